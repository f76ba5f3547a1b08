// SPDX-License-Identifier: Apache-2.0
// What the features of a policy need at run time, for the calls of one plan. A worker makes it for
// its plans, a reload to keep what plans share, and the simulator for its calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/instant.h"
#include "call/call_books.h"
#include "call/plan.h"
#include "call/policy_tables.h"
#include "call/shadow_call.h"

namespace levee {

// The policies of a route. They outlive what is planned with them.
struct RoutePolicies {
  const CallPolicy& policy;
  const CallPolicy* shadow = nullptr;                 // decides beside it; nullptr: none does
  bool described = false;                             // as PlanCalls has it
  uint64_t seed = 0;                                  // of the shadow's draws
  absl::Duration timeout = absl::InfiniteDuration();  // of the route
};

// The destination of the calls that are planned.
struct PlannedFor {
  const std::string& upstream;
  const std::string& authority;  // that the upstream dials; empty: it has endpoints
  Instant now;
};

// Each feature is made with the tables and holds what it has taken from them. `policy` may not have
// the feature; then there is nothing to hold, and calls do not see it.

struct PlannedBudget {
  PlannedBudget(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to);

  std::shared_ptr<RetryBudget> budget;  // never nullptr
  bool over_limit;                      // BudgetTable::Account
};

struct PlannedThrottle {
  PlannedThrottle(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to);
  void ShowTo(CallPlanParts& parts) const { parts.throttle = throttle.get(); }

  std::shared_ptr<AdaptiveThrottle> throttle;  // nullptr: every call is sent
};

// In the order of the policy.
struct PlannedLimits {
  PlannedLimits(PolicyTables& tables, const CallPolicy& policy);
  void ShowTo(CallPlanParts& parts) const { parts.rate_limits = limiters; }

  std::vector<std::shared_ptr<RateLimiter>> owned;
  std::vector<RateLimiter*> limiters;
  bool leased = false;  // an answer may come later than the question
};

// Its calls see a worker's GuardLine of it.
struct PlannedGuard {
  PlannedGuard(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to);

  std::shared_ptr<Guard> guard;  // nullptr: there is none
};

struct PlannedDedupe {
  PlannedDedupe(PolicyTables& tables, const CallPolicy& policy, const PlannedFor& to);
  void ShowTo(CallPlanParts& parts) const { parts.dedupe = table.get(); }

  std::shared_ptr<DedupeTable> table;  // nullptr: calls with equal keys do not meet
};

struct PlannedShadow {
  PlannedShadow(PolicyTables& tables, const RoutePolicies& policies, const PlannedFor& to);
  void ShowTo(CallPlanParts& parts) const { parts.shadow = plan.get(); }

  std::unique_ptr<ShadowPlan> plan;  // nullptr: there is none
};

// All of them. A feature that is not made here does not compile.
struct PlannedFeatures {
  PlannedFeatures(PolicyTables& tables, const RoutePolicies& policies, const PlannedFor& to)
      : calls(PlanCalls(policies.policy, policies.described, policies.timeout)),
        budget(tables, policies.policy, to),
        throttle(tables, policies.policy, to),
        limits(tables, policies.policy),
        guard(tables, policies.policy, to),
        dedupe(tables, policies.policy, to),
        shadow(tables, policies, to) {}

  // Gives calls their view of those that no worker has a side of.
  void ShowTo(CallPlanParts& parts) const {
    throttle.ShowTo(parts);
    limits.ShowTo(parts);
    dedupe.ShowTo(parts);
    shadow.ShowTo(parts);
  }

  PlannedPolicy calls;
  PlannedBudget budget;
  PlannedThrottle throttle;
  PlannedLimits limits;
  PlannedGuard guard;
  PlannedDedupe dedupe;
  PlannedShadow shadow;
};

}  // namespace levee
