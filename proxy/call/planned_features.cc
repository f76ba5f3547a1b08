// SPDX-License-Identifier: Apache-2.0
#include "call/planned_features.h"

namespace levee {

PlannedBudget::PlannedBudget(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to) {
  const BudgetTable::Account account =
      tables.budgets.Get(to.upstream, to.authority, policy.retry.budget, to.now);
  budget = account.budget;
  over_limit = account.over_limit;
}

PlannedThrottle::PlannedThrottle(PolicyTables& tables, const CallPolicy& policy,
                                 const PlannedFor& to) {
  if (!policy.throttle.has_value()) return;
  throttle = tables.throttles.Get(to.upstream, to.authority, *policy.throttle, to.now);
}

PlannedLimits::PlannedLimits(PolicyTables& tables, const CallPolicy& policy) {
  for (const RateLimitPolicy& limit : policy.rate_limits) {
    owned.push_back(tables.rate_limits.Get(policy.name, limit));
    limiters.push_back(owned.back().get());
    leased |= limit.shared.has_value();
  }
}

PlannedGuard::PlannedGuard(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to) {
  if (policy.guard.has_value()) guard = tables.guards.Get(to.upstream, *policy.guard);
}

PlannedDedupe::PlannedDedupe(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to) {
  if (!policy.dedupe.has_value()) return;
  table = tables.dedupes.Get(to.upstream, policy.name, *policy.dedupe);
}

PlannedShadow::PlannedShadow(PolicyTables& tables, const RoutePolicies& policies,
                             const PlannedFor& to) {
  if (policies.shadow == nullptr) return;
  const CallPolicy& shadow = *policies.shadow;
  plan = std::make_unique<ShadowPlan>(ShadowPlan{
      .calls = PlanCalls(shadow, policies.described, policies.timeout),
      .budget =
          tables.shadow_budgets.Get(to.upstream, to.authority, shadow.retry.budget, to.now).budget,
      .random = Random(policies.seed)});
}

}  // namespace levee
