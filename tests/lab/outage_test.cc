// SPDX-License-Identifier: Apache-2.0
// What an outage costs under a policy, as the product's own calls and budget spend it.
#include "lab/outage.h"

#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr absl::Duration kNoDeadline = absl::InfiniteDuration();

TEST(Outage, TheDefaultBudgetAddsATenthAtMost) {
  for (const double load : {10.0, 100.0, 1000.0}) {
    const OutageLoad outage = *SimulateOutage(CallPolicy(), false, kNoDeadline, load);
    EXPECT_EQ(outage.calls, 10 * load);
    EXPECT_LE(outage.attempts, 1.1 * outage.calls);
    EXPECT_LE(outage.worst_second, 1.3);
    // The last calls' retries come after its end.
    EXPECT_GE(outage.unbounded, 2.9 * outage.calls);
  }
}

TEST(Outage, TheBudgetIsToldAsItIsBeforeTheOutage) {
  const CallPolicy policy = PolicyOf("retry: {budget: {ratio: 0.2, floor: {per_second: 3}}}");
  EXPECT_EQ(SimulateOutage(policy, false, kNoDeadline, 1)->allowed, 30);
  const OutageLoad outage = *SimulateOutage(policy, false, kNoDeadline, 100);
  EXPECT_NEAR(outage.allowed, 0.2 * 100 * 10, 20);  // The slot under way counts as well.
  EXPECT_NEAR(outage.at_once, 0.2 * 100, 2);
}

TEST(Outage, WithoutARatioTheFloorAloneBoundsWhatGoesAtOnce) {
  const CallPolicy policy = PolicyOf("retry: {budget: {ratio: 0, floor: {per_second: 3}}}");
  EXPECT_EQ(SimulateOutage(policy, false, kNoDeadline, 10)->at_once, 30);
}

TEST(Outage, EveryWayToFailThatIsRetriedIsFound) {
  for (const char* retry : {"codes: [INTERNAL], failures: []", "codes: [], failures: [connect]",
                            "codes: [], failures: [], http: [503]",
                            "max_attempts: 1, rules: [{codes: [8], max_attempts: 3}]"}) {
    const CallPolicy policy = PolicyOf(std::string("retry: {") + retry + "}");
    const auto outage = SimulateOutage(policy, false, kNoDeadline, 10);
    ASSERT_TRUE(outage.has_value()) << retry;
    EXPECT_GE(outage->unbounded, 250) << retry;
  }
}

TEST(Outage, APolicyThatRetriesNothingHasNone) {
  for (const char* fields :
       {"retry: {max_attempts: 1}", "retry: {codes: [], failures: []}", "hedge: {delay: 1s}"}) {
    EXPECT_FALSE(SimulateOutage(PolicyOf(fields), false, kNoDeadline, 10).has_value()) << fields;
  }
}

TEST(Outage, RateLimitsDoNotHideTheBudget) {
  const CallPolicy policy = PolicyOf("rate_limit: [{name: a, rate: 1/s}]");
  EXPECT_GE(SimulateOutage(policy, false, kNoDeadline, 100)->attempts, 1000);
}

TEST(Outage, AnObservingPolicySendsEachCallOnce) {
  const OutageLoad outage =
      *SimulateOutage(PolicyOf("retry: {mode: observe}"), false, kNoDeadline, 10);
  EXPECT_EQ(outage.attempts, outage.calls);
}

TEST(Outage, ADeadlineCutsRetriesOff) {
  const CallPolicy policy = PolicyOf("retry: {backoff: {constant: 200ms}}");
  EXPECT_EQ(SimulateOutage(policy, false, absl::Milliseconds(100), 10)->unbounded, 100);
}

}  // namespace
}  // namespace levee
