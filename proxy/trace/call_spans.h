// SPDX-License-Identifier: Apache-2.0
// The spans of one call as plain values: its own, and one for each attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "wire/overload_mark.h"
#include "wire/refusal.h"
#include "wire/status.h"
#include "wire/traceparent.h"

namespace levee {

struct AttemptSpan {
  uint64_t id = 0;
  absl::Time start;
  absl::Time end;
  StatusCode code = StatusCode::kUnknown;
  bool given_up = false;                // for another attempt of the call, so nothing has failed
  bool transparent = false;             // outside max_attempts
  std::optional<RetryTrigger> trigger;  // what made it necessary; none for the first
  absl::Duration delay;                 // with trigger: the delay chosen
  std::string endpoint;                 // "10.0.0.7:50051"; empty: it reached none
  std::optional<OverloadScope> mark;    // that it was answered with
};

// Texts are well-formed UTF-8 of a bounded length.
struct CallSpans {
  TraceId trace_id;
  uint64_t id = 0;
  uint64_t parent_id = 0;   // the caller's span; 0: the trace begins here
  std::string trace_state;  // the caller's
  absl::Time start;
  absl::Time end;
  std::string method;  // "shop.Cart/Add"
  std::string authority;
  std::string listener;
  std::string upstream;
  std::string policy;
  StatusCode code = StatusCode::kUnknown;  // as the caller saw it
  std::string message;                     // of a code other than OK
  // A literal: the reason why retrying stopped, or why the call had no attempt; may be empty.
  std::string_view refused;
  std::optional<OverloadScope> mark;   // that the caller was answered with
  std::optional<DedupeResult> dedupe;  // of a call with an idempotency key
  absl::InlinedVector<AttemptSpan, 2> attempts;

  int count() const { return 1 + static_cast<int>(attempts.size()); }

  // Returns about how much memory they take.
  size_t bytes() const;
};

}  // namespace levee
