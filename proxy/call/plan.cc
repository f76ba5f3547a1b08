// SPDX-License-Identifier: Apache-2.0
#include "call/plan.h"

#include <algorithm>
#include <utility>

#include "policy/hedging.h"

namespace levee {

PlannedPolicy PlanCalls(const CallPolicy& policy, bool described, absl::Duration timeout) {
  const bool automatic = policy.idempotency == IdempotencyMode::kAuto;
  const bool known = policy.idempotency == IdempotencyMode::kAlways || (automatic && described);
  PlannedPolicy plan;
  plan.policy = &policy;
  plan.idempotent = known || (automatic && !policy.key_header.empty());
  // A key lets a server drop the second of two calls, not answer both at the same time.
  const bool hedged = policy.hedge.has_value() && known;
  if (hedged) plan.hedge = &*policy.hedge;
  if (!hedged && timeout >= policy.timeout) return plan;
  CallPolicy own = hedged ? RetryPolicyOfHedging(policy) : policy;
  own.timeout = std::min(own.timeout, timeout);
  plan.own = std::make_unique<const CallPolicy>(std::move(own));
  plan.policy = plan.own.get();
  return plan;
}

}  // namespace levee
