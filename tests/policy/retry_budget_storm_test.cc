// SPDX-License-Identifier: Apache-2.0
// The budget in storms: outages, brownouts, single bad endpoints. Virtual time.
#include "gtest/gtest.h"
#include "policy/budget_simulation.h"

namespace levee {
namespace {

// So much credit that the window alone decides.
constexpr double kAmpleCredit = 1e6;

constexpr double kRates[] = {0.2, 1, 3, 10, 100};

auto Independent(double failure_rate) {
  return [failure_rate](const SimulatedAttempt&, Random& random) {
    return random.Uniform() >= failure_rate;
  };
}

Workload Calls(double calls_per_second, int calls, double failure_rate, uint64_t seed = 1) {
  return {.calls_per_second = calls_per_second,
          .calls = calls,
          .seed = seed,
          .succeeds = Independent(failure_rate)};
}

TEST(RetryBudgetStorm, A41_AnOutageCostsAtMostElevenPercentAtAnyRateFromTheStart) {
  for (double rate : kRates) {
    for (int calls : {300, 301, 500, 1000, 3000}) {
      const SimulationResult result = Simulate({}, Calls(rate, calls, 1.0));
      EXPECT_LE(result.AttemptsPerCall(), 1.11) << rate << " calls/s, " << calls << " calls";
    }
  }
}

TEST(RetryBudgetStorm, A41_ABrownoutCostsAtMostElevenPercentAtAnyRate) {
  for (double failure_rate : {0.5, 0.8}) {
    for (double rate : kRates) {
      for (uint64_t seed = 1; seed <= 20; ++seed) {
        const SimulationResult result = Simulate({}, Calls(rate, 3000, failure_rate, seed));
        EXPECT_LE(result.AttemptsPerCall(), 1.11)
            << failure_rate << " failing, " << rate << " calls/s, seed " << seed;
      }
    }
  }
}

TEST(RetryBudgetStorm, A41_OccasionalFailuresAreRescued) {
  for (double rate : kRates) {
    const SimulationResult result = Simulate({}, Calls(rate, 30'000, 0.05));
    EXPECT_GE(result.Rescued(), 0.95) << rate << " calls/s";
  }
}

// A retry goes to one of the two endpoints that work, as a balancer that avoids the failed one
// does.
TEST(RetryBudgetStorm, A41_OneBadEndpointOfThreeIsRescuedAtLowRates) {
  for (double rate : {0.2, 1.0}) {
    Workload workload = Calls(rate, 3000, 0);
    workload.succeeds = [](const SimulatedAttempt& attempt, Random&) {
      return attempt.n > 1 || attempt.call % 3 != 0;
    };
    const SimulationResult result = Simulate({}, workload);
    EXPECT_GE(result.Rescued(), 0.95) << rate << " calls/s";
    EXPECT_LE(result.AttemptsPerCall(), 1.34) << rate << " calls/s";
  }
}

TEST(RetryBudgetStorm, A42_RatioOfThreeTenthsGivesThirtyPercentInAnOutage) {
  RetryBudgetPolicy policy;
  policy.ratio = 0.3;
  policy.burst_least = kAmpleCredit;
  for (double rate : {10.0, 100.0}) {
    const SimulationResult result = Simulate(policy, Calls(rate, 3000, 1.0));
    EXPECT_LE(result.AttemptsPerCall(), 1.31) << rate;
    EXPECT_GE(result.AttemptsPerCall(), 1.29) << rate;
  }
}

TEST(RetryBudgetStorm, A46_TheFloorIsBackAfterAnOutage) {
  Workload workload = Calls(1, 600, 0);
  // Dead for 200 s, then one call in five fails and retries work.
  workload.succeeds = [](const SimulatedAttempt& attempt, Random&) {
    return attempt.call >= 200 && (attempt.n > 1 || attempt.call % 5 != 0);
  };
  const SimulationResult result = Simulate({}, workload);
  // Of the 80 calls that fail after the outage nearly all are rescued; the ratio alone gives 40.
  EXPECT_GE(result.rescued, 70);
}

TEST(RetryBudgetStorm, A48_TheBoundHoldsForTwoWorkers) {
  for (double rate : kRates) {
    Workload workload = Calls(rate, 1000, 1.0);
    workload.workers = 2;
    EXPECT_LE(Simulate({}, workload).AttemptsPerCall(), 1.11) << rate << " calls/s";
  }
}

// The cost of the floor that other systems grant unconditionally: the reason why it is withheld.
TEST(RetryBudgetStorm, AnUnconditionalFloorWouldDoubleTheLoadOfAnOutageAtOneCallASecond) {
  RetryBudgetPolicy policy;
  policy.floor_min_success = 0;
  policy.burst_least = kAmpleCredit;
  EXPECT_GE(Simulate(policy, Calls(1, 3000, 1.0)).AttemptsPerCall(), 1.8);
}

}  // namespace
}  // namespace levee
