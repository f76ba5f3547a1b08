// SPDX-License-Identifier: Apache-2.0
// The calls of an access log, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/load.h"
#include "settings/snapshot.h"
#include "wire/status.h"

namespace levee {

struct RecordedAttempt {
  // How it ended, as far as the retry behind it says so.
  enum class Kind { kStatus, kNoConnection, kLost, kRefusedStream, kTimeout };

  std::string endpoint;  // empty: it reached none
  absl::Duration start;  // since the call began
  absl::Duration took;
  StatusCode code = StatusCode::kUnknown;
  Kind kind = Kind::kStatus;
  bool committed = false;  // its answer had begun when it failed
  std::string mark;        // the scope of the overload mark of its answer; empty: it had none
};

struct RecordedCall {
  absl::Time at;
  absl::Duration took;
  std::string listener;
  std::string upstream;
  std::string authority;
  std::string path;  // "/shop.Cart/Add"
  std::string peer;  // the caller's name by its certificate; empty: none was demanded
  StatusCode code = StatusCode::kUnknown;
  std::vector<RecordedAttempt> attempts;
  size_t request_bytes = 0;
  double sample = 1;  // the share of such calls that the log has, above 0
};

// Returns the route of the call in a configuration: that of the listener of its name, or else of
// the last one for the application's own calls. A log has no headers, so the call is taken as one
// without any. nullptr: there is none.
const Route* RouteOf(const RecordedCall& call, const Snapshot& snapshot);

// Reads the lines of access logs, and returns the calls in the order in which they began. Refuses
// logs that cannot carry a replay, with the reason and the place: a line that is none, no attempts,
// nothing that went well at once (`when: [all]` is wanted), or a gap.
absl::StatusOr<std::vector<RecordedCall>> ReadRecordedCalls(const std::vector<ConfigText>& logs);

}  // namespace levee
