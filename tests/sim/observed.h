// SPDX-License-Identifier: Apache-2.0
// How facts about a case are written down, so that both hosts write the same.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "sim/sim_host.h"
#include "wire/call_record.h"

namespace levee {

// One attempt as the upstream saw it.
struct SeenAttempt {
  int endpoint = -1;
  absl::Duration at;
  int previous_attempts = 0;
  absl::Duration timeout = absl::InfiniteDuration();
  std::string received;
  bool half_closed = false;
  std::optional<absl::Duration> cancelled_at;
  uint64_t span = 0;                          // that its traceparent names, of the worker alone
  std::optional<absl::Duration> answered_at;  // the last time that some of an answer was sent
};
std::string Text(const SeenAttempt& attempt);

// The answer as the caller saw it: `fields` without :status and content-type.
std::string TextOfAnswer(bool head, const std::string& body, const Metadata& fields,
                         absl::Duration at);

std::string Text(const CallRecord& record);

}  // namespace levee
