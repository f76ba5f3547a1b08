// SPDX-License-Identifier: Apache-2.0
// Sidecars that share a limit by leases: what they admit together, and what they ask of the store.
// LEVEE_STORM_SEEDS=20 makes so many runs of 30 s of each, and fleets of 100 where 10 are usual.
#include "policy/lease_fleet.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"
#include "policy/times.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr absl::Duration kWindow = absl::Seconds(1);

// With LEVEE_STORM_SEEDS everything has its full size.
bool FullSize() { return StormSeeds(0) > 0; }
// Of a fleet in trouble.
int TroubledSidecars() { return FullSize() ? 100 : 10; }

// A fifth of a second of the rate as burst, hence leases of 200 ms.
FleetPlan Plan(int sidecars, double demand) {
  FleetPlan plan{.sidecars = sidecars, .demand = demand};
  if (FullSize()) plan.span = absl::Seconds(30);
  plan.per_second = plan.rule.per_second = 100.0 * sidecars;
  plan.rule.burst = 20 * sidecars;
  return plan;
}

int64_t Bound(const FleetPlan& plan) {
  const absl::Duration span = kWindow + plan.rule.Lease();
  return static_cast<int64_t>(plan.rule.per_second * absl::ToDoubleSeconds(span)) + plan.rule.burst;
}

class LeaseFleetTest : public testing::TestWithParam<std::tuple<int, double>> {};

TEST_P(LeaseFleetTest, R1_AdmitsTheRateTogetherAndRefusesNothingBelowIt) {
  const auto [sidecars, demand] = GetParam();
  for (uint64_t seed = 1; seed <= StormSeeds(demand * sidecars > 200 ? 1 : 5); ++seed) {
    const FleetPlan plan = Plan(sidecars, demand);
    LeaseFleet fleet(plan, seed);
    fleet.Run();
    EXPECT_LE(fleet.MostIn(kWindow), Bound(plan)) << seed;
    const double asked = static_cast<double>(fleet.calls) / absl::ToDoubleSeconds(plan.span);
    EXPECT_GE(fleet.AdmittedRate(absl::ZeroDuration(), plan.span),
              0.95 * std::min(asked, plan.rule.per_second))
        << seed;
    if (demand < 1) {
      EXPECT_EQ(fleet.refused, 0) << seed;
    }
    EXPECT_LE(fleet.longest_wait, plan.timeout) << seed;
    const double leases = plan.span / plan.rule.Lease();
    if (demand < 1) {
      EXPECT_LE(static_cast<double>(fleet.requests), 0.2 * static_cast<double>(fleet.calls));
    } else {
      EXPECT_LE(static_cast<double>(fleet.requests), 4 * leases * sidecars);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Demand, LeaseFleetTest,
                         testing::Combine(testing::Values(10, 100),
                                          testing::Values(0.5, 2.0, 10.0)));

TEST(LeaseFleet, R2_BelowTheLimitNoCallOfASidecarThatKnowsItsRateWaitsForTheStore) {
  for (uint64_t seed = 1; seed <= StormSeeds(5); ++seed) {
    FleetPlan plan = Plan(1, 0.5);
    plan.per_second = plan.rule.per_second = 1000;
    plan.rule.burst = 200;
    LeaseFleet fleet(plan, seed);
    int64_t waits = 0;
    fleet.At(S(1), [&] { waits = fleet.waits; });  // By then it knows its own rate.
    fleet.Run();
    EXPECT_GT(fleet.calls, 4000) << seed;
    EXPECT_EQ(fleet.waits, waits) << seed;
  }
}

// The rate of each half second from `from` to `to`, as a part of the limit: the least and the most.
std::pair<double, double> Extremes(const LeaseFleet& fleet, const FleetPlan& plan, double from,
                                   double to) {
  std::pair<double, double> extremes{1e9, 0};
  for (double t = from; t + 0.5 <= to; t += 0.5) {
    const double part = fleet.AdmittedRate(S(t), S(t + 0.5)) / plan.rule.per_second;
    extremes = {std::min(extremes.first, part), std::max(extremes.second, part)};
  }
  return extremes;
}

class LeaseFleetTroubleTest : public testing::TestWithParam<double> {};

TEST_P(LeaseFleetTroubleTest, R3_AStoreThatIsAwayChangesLittleWithTheLastRate) {
  for (uint64_t seed = 1; seed <= StormSeeds(5); ++seed) {
    const FleetPlan plan = Plan(TroubledSidecars(), GetParam());
    LeaseFleet fleet(plan, seed);
    fleet.At(S(4), [&] { fleet.store_away = true; });
    fleet.At(S(8), [&] { fleet.store_away = false; });
    fleet.Run();
    const auto [least, most] = Extremes(fleet, plan, 2, 10);
    EXPECT_GE(least, 0.7) << seed;
    EXPECT_LE(most, 1.1) << seed;
    EXPECT_LE(fleet.longest_wait, plan.timeout) << seed;
  }
}

TEST_P(LeaseFleetTroubleTest, R3_TwoLeasesAfterTheStoreIsBackItDecidesAgain) {
  for (uint64_t seed = 1; seed <= StormSeeds(1); ++seed) {
    const FleetPlan plan = Plan(10, GetParam());
    LeaseFleet fleet(plan, seed);
    fleet.At(S(4), [&] { fleet.store_away = true; });
    fleet.At(S(7.99), [&] {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(fleet.State(i), PermitLease::State::kStale) << i;
    });
    fleet.At(S(8), [&] { fleet.store_away = false; });
    fleet.At(S(8) + 2 * plan.rule.Lease(), [&] {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(fleet.State(i), PermitLease::State::kLeased) << i;
    });
    fleet.Run();
  }
}

TEST_P(LeaseFleetTroubleTest, R3_AnEmptiedStoreLetsOneBurstMoreThrough) {
  for (uint64_t seed = 2; seed <= StormSeeds(1) + 1; ++seed) {
    const FleetPlan plan = Plan(TroubledSidecars(), GetParam());
    LeaseFleet fleet(plan, seed);
    fleet.At(S(4), [&] { fleet.store.Forget(); });
    fleet.Run();
    EXPECT_LE(fleet.MostIn(kWindow), Bound(plan) + plan.rule.burst) << seed;
    const auto [least, most] = Extremes(fleet, plan, 5, 10);
    EXPECT_GE(least, 0.7) << seed;
    EXPECT_LE(most, 1.1) << seed;
  }
}

TEST_P(LeaseFleetTroubleTest, R3_ASlowStoreAndLostAnswersChangeLittle) {
  for (uint64_t seed = 1; seed <= StormSeeds(5); ++seed) {
    FleetPlan plan = Plan(TroubledSidecars(), GetParam());
    plan.delay = absl::Milliseconds(40);
    plan.loss = 0.02;
    LeaseFleet fleet(plan, seed);
    fleet.Run();
    const auto [least, most] = Extremes(fleet, plan, 2, 10);
    EXPECT_GE(least, 0.7) << seed;
    EXPECT_LE(most, 1.1) << seed;
    EXPECT_LE(fleet.MostIn(kWindow), Bound(plan)) << seed;
  }
}

TEST_P(LeaseFleetTroubleTest, AfterTheGraceEachSidecarHasItsShare) {
  FleetPlan plan = Plan(10, GetParam());
  plan.rule.grace = absl::Seconds(2);
  LeaseFleet fleet(plan, 3);
  fleet.At(S(4), [&] { fleet.store_away = true; });
  fleet.At(S(6.5), [&] {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(fleet.State(i), PermitLease::State::kFallback) << i;
  });
  fleet.Run();
  // Those that want less than their share leave the rest.
  const auto [least, most] = Extremes(fleet, plan, 6.5, 10);
  EXPECT_GE(least, 0.6);
  EXPECT_LE(most, 1.1);
}

INSTANTIATE_TEST_SUITE_P(Demand, LeaseFleetTroubleTest, testing::Values(2.0, 10.0));

}  // namespace
}  // namespace levee
