// SPDX-License-Identifier: Apache-2.0
// The calls of an access log under another policy: the answer of `levee replay`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/recorded_calls.h"
#include "settings/snapshot.h"

namespace levee {

struct ReplayFigures {
  int64_t calls = 0;
  int64_t attempts = 0;
  int64_t good = 0;             // calls that were answered OK
  int64_t rescued = 0;          // of these, the ones whose first attempt failed
  int64_t unsent = 0;           // calls without an attempt: limits and the throttle refused them
  double worst_second = 0;      // attempts per call
  std::optional<double> p50_s;  // of the calls answered OK; none: there are none
  std::optional<double> p99_s;

  double amplification() const;
  double success() const;
};

struct ReplayedPolicy {
  std::string name;
  ReplayFigures figures;
  double drawn_share = 0;  // of the attempts: those that the log does not have
  double same_share = 0;   // of the calls: those with as many attempts and the same code
};

struct Replay {
  // Of the recorded calls, and of those that stand for the ones that a sampled log leaves out.
  ReplayFigures recorded;
  double sample = 1;  // the share of these calls that the log has
  std::vector<ReplayedPolicy> replayed;
};

// A policy file to try.
struct ReplayConfig {
  std::string name;
  std::shared_ptr<const Snapshot> snapshot;
};

// Returns an error, with the call, if a configuration has no route for a call that was made.
// Calls of a sampled log are weighted, as stand_ins.h says.
absl::StatusOr<Replay> ReplayCalls(std::vector<RecordedCall> calls,
                                   const std::vector<ReplayConfig>& configs, uint64_t seed);

}  // namespace levee
