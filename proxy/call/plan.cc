// SPDX-License-Identifier: Apache-2.0
#include "call/plan.h"

#include "policy/hedging.h"

namespace levee {

PlannedPolicy PlanCalls(const CallPolicy& policy, bool described) {
  const bool automatic = policy.idempotency == IdempotencyMode::kAuto;
  const bool known = policy.idempotency == IdempotencyMode::kAlways || (automatic && described);
  PlannedPolicy plan;
  plan.policy = &policy;
  plan.idempotent = known || (automatic && !policy.key_header.empty());
  // A key lets a server drop the second of two calls, not answer both at the same time.
  if (!policy.hedge.has_value() || !known) return plan;
  plan.hedged = std::make_unique<const CallPolicy>(RetryPolicyOfHedging(policy));
  plan.policy = plan.hedged.get();
  plan.hedge = &*policy.hedge;
  return plan;
}

}  // namespace levee
