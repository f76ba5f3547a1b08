// SPDX-License-Identifier: Apache-2.0
// Makes up for the calls that a sampled access log leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/recorded_calls.h"

namespace levee {

// A replay takes no more calls, stand-ins included: they are held in memory.
inline constexpr size_t kMostReplayedCalls = 20'000'000;

// How far a stand-in begins from its call at most: budgets and throttles see the load, and
// endpoints answer as they did at that time.
inline constexpr absl::Duration kStandInReach = absl::Milliseconds(500);

// Adds copies of the calls, so that each call of a log with the share 0.1 of all calls is there ten
// times, and returns all in the order in which they begin. The times of copies, and whether there
// is one more where the share is no whole part, are drawn. Returns an error if there were too many.
absl::StatusOr<std::vector<RecordedCall>> WithStandIns(std::vector<RecordedCall> calls,
                                                       uint64_t seed);

}  // namespace levee
