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

// The policy that a hedged call follows when an attempt fails. What is not fatal is retried at
// once, up to the hedging policy's number of attempts: hedging is that and attempts started by a
// timer. `policy` has `hedge`.
CallPolicy RetryPolicyOfHedging(const CallPolicy& policy);

// How long after an attempt the next one is started beside it; Infinite while the quantile asked
// for is not known.
absl::Duration HedgeDelay(const HedgePolicy& policy, LatencyEstimate& latency, Instant now);

// Why no further attempt is started beside those under way; nullopt: it is. The budget is charged
// for it, also where the policy only observes (kObserve). `policy` is that of RetryPolicyOfHedging.
std::optional<RefusalReason> RefuseHedge(const CallPolicy& policy, const RetryFacts& facts,
                                         Instant now, RetryBudget& budget, int worker);

}  // namespace levee
