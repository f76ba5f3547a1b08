// SPDX-License-Identifier: Apache-2.0
#include "call/plan.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

CallPolicy Policy(IdempotencyMode mode, bool hedged) {
  CallPolicy policy;
  policy.idempotency = mode;
  if (hedged) policy.hedge = HedgePolicy();
  return policy;
}

TEST(PlannedPolicy, TakesADescribedMethodForIdempotentUnlessThePolicySaysNever) {
  EXPECT_TRUE(PlanCalls(Policy(IdempotencyMode::kAuto, false), true).idempotent);
  EXPECT_FALSE(PlanCalls(Policy(IdempotencyMode::kAuto, false), false).idempotent);
  EXPECT_TRUE(PlanCalls(Policy(IdempotencyMode::kAlways, false), false).idempotent);
  EXPECT_FALSE(PlanCalls(Policy(IdempotencyMode::kNever, false), true).idempotent);
}

TEST(PlannedPolicy, HedgesOnlyWhatIsKnownToBeIdempotent) {
  const CallPolicy hedged = Policy(IdempotencyMode::kAuto, true);
  const PlannedPolicy known = PlanCalls(hedged, true);
  EXPECT_EQ(known.hedge, &*hedged.hedge);
  EXPECT_EQ(known.policy, known.own.get());
  const PlannedPolicy unknown = PlanCalls(hedged, false);
  EXPECT_EQ(unknown.hedge, nullptr);
  EXPECT_EQ(unknown.policy, &hedged);
}

TEST(PlannedPolicy, WithAKeyIsIdempotentButNotHedged) {
  CallPolicy policy = Policy(IdempotencyMode::kAuto, true);
  policy.key_header = "idempotency-key";
  const PlannedPolicy plan = PlanCalls(policy, false);
  EXPECT_TRUE(plan.idempotent);
  EXPECT_EQ(plan.hedge, nullptr);
}

TEST(PlanCalls, TheSmallerTimeoutOfRouteAndPolicyHolds) {
  CallPolicy policy;
  policy.timeout = absl::Seconds(2);
  EXPECT_EQ(PlanCalls(policy, false).policy, &policy);
  EXPECT_EQ(PlanCalls(policy, false, absl::Seconds(3)).policy, &policy);
  const PlannedPolicy plan = PlanCalls(policy, false, absl::Seconds(1));
  EXPECT_EQ(plan.policy->timeout, absl::Seconds(1));
  EXPECT_EQ(policy.timeout, absl::Seconds(2));
}

}  // namespace
}  // namespace levee
