// SPDX-License-Identifier: Apache-2.0
// Many calls on virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "absl/time/time.h"
#include "call/call.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"

namespace levee {

inline constexpr int64_t kAnyNumberOfCalls = std::numeric_limits<int64_t>::max();

// Callers that do not wait for answers: the n-th call comes when it comes.
struct Workload {
  double per_second = 1;
  int64_t calls = 300;
  // No call comes later than that after the workload was begun.
  absl::Duration length = absl::InfiniteDuration();
  // 0: evenly spaced. Else the seed of exponentially distributed gaps (a Poisson process).
  uint64_t poisson_seed = 0;
  // The head of the n-th request (from 0), if it is not empty.
  std::function<RequestFacts(int64_t n)> facts;
};

// Has the calls made from now on, while the clock runs. The sidecar outlives them.
void BeginWorkload(SimSidecar& sidecar, const Workload& workload);

// Runs the workload until every call has ended.
void RunWorkload(SimSidecar& sidecar, const Workload& workload);

}  // namespace levee
