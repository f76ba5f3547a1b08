// SPDX-License-Identifier: Apache-2.0
// Hedging: further attempts of a call while the first is still under way (gRFC A6, "Hedging
// Policy").
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/latency_estimate.h"
#include "policy/retry_budget.h"
#include "policy/retry_decision.h"
#include "policy/retry_policy.h"

namespace levee {

// Returns the policy that a hedged call follows when an attempt fails: a failure that is not fatal
// is retried at once, up to the hedging policy's number of attempts. Hedging is this and the
// attempts that a timer starts. `policy` must have `hedge`.
CallPolicy RetryPolicyOfHedging(const CallPolicy& policy);

// Returns how long after an attempt the next one is started beside it; infinite while the quantile
// asked for is not known.
absl::Duration HedgeDelay(const HedgePolicy& policy, LatencyEstimate& latency, Instant now);

// Returns why no further attempt is started beside those under way; nullopt if one is started. The
// budget is charged for it, also where the policy only observes (kObserve). `policy` is from
// RetryPolicyOfHedging.
std::optional<RefusalReason> RefuseHedge(const CallPolicy& policy, const RetryFacts& facts,
                                         Instant now, RetryBudget& budget, int worker);

}  // namespace levee
