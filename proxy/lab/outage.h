// SPDX-License-Identifier: Apache-2.0
// What a policy sends to an upstream that is out.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "policy/retry_policy.h"

namespace levee {

inline constexpr int kOutageSeconds = 10;

struct OutageLoad {
  double calls_per_second = 0;
  double allowed = 0;       // retries that the window allows when the outage begins
  double at_once = 0;       // of these, the ones that can go at once
  int64_t calls = 0;        // begun in the outage
  int64_t attempts = 0;     // that arrive in it
  double worst_second = 0;  // attempts per call
  int64_t unbounded = 0;    // attempts, if there were no budget
};

// The outage is simulated: a sidecar with the product's own calls, budget and waiting retries sends
// evenly spaced calls, at first to an upstream that answers, then to one that fails every attempt
// at once in a way that the policy retries. `policy` without its rate limits, so that they do not
// hide what the budget does. `idempotent`: the method is described as idempotent. `deadline`: of
// each call, or infinite. Returns nullopt if the policy retries no failure.
std::optional<OutageLoad> SimulateOutage(const CallPolicy& policy, bool idempotent,
                                         absl::Duration deadline, double calls_per_second);

}  // namespace levee
