// SPDX-License-Identifier: Apache-2.0
// Sidecars that lease a limit from a rate limit service: what they admit together, and what they
// ask.
#include <algorithm>
#include <cstdint>
#include <tuple>

#include "gtest/gtest.h"
#include "policy/lease_fleet.h"
#include "policy/service_lease.h"
#include "policy/times.h"
#include "policy/window_service_model.h"

namespace levee {
namespace {

using ServicePlan = FleetPlanOf<ServiceRule>;
using ServiceFleet = LeaseFleetOf<ServiceLease, WindowServiceModel>;

// A limit of 100 a second for each sidecar.
ServicePlan PlanService(int sidecars, double demand) {
  return {.sidecars = sidecars, .per_second = 100.0 * sidecars, .demand = demand};
}

// The most calls that were admitted in one second of the service's clock, as a part of its limit.
double FullestWindow(const ServiceFleet& fleet, const ServicePlan& plan) {
  double most = 0;
  for (double t = 0; t + 1 <= absl::ToDoubleSeconds(plan.span); ++t) {
    most = std::max(most, fleet.AdmittedRate(S(t), S(t + 1)) / plan.per_second);
  }
  return most;
}

// Sidecars, demand, and whether the service tells of its windows.
class ServiceFleetTest : public testing::TestWithParam<std::tuple<int, double, bool>> {};

TEST_P(ServiceFleetTest, R5_AdmitsTheRateTogetherAndRefusesNothingBelowIt) {
  const auto [sidecars, demand, tells] = GetParam();
  const int seeds = sidecars > 10 ? 2 : 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    const ServicePlan plan = PlanService(sidecars, demand);
    ServiceFleet fleet(plan, static_cast<uint64_t>(seed));
    fleet.store.limit = static_cast<int64_t>(plan.per_second);
    fleet.store.tells = tells;
    fleet.store.counts_all = tells;
    fleet.Run();
    const double asked = static_cast<double>(fleet.calls) / absl::ToDoubleSeconds(plan.span);
    EXPECT_GE(fleet.AdmittedRate(S(0), plan.span),
              (tells ? 0.95 : 0.85) * std::min(asked, plan.per_second))
        << seed;
    if (demand < 1) {
      EXPECT_EQ(fleet.refused, 0) << seed;
    }
    // A lease of the demand may be used in the next window, of which no request is for more than an
    // eighth.
    EXPECT_LE(FullestWindow(fleet, plan), 1 + 0.1 * demand) << seed;
    EXPECT_LE(fleet.longest_wait, plan.timeout) << seed;
    // A call per call is what others ask; at most four times in a lease, and some to find out what
    // the window has left.
    EXPECT_LE(fleet.requests, fleet.calls) << seed;
    EXPECT_LE(static_cast<double>(fleet.requests), 50 * 10 * sidecars) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Demand, ServiceFleetTest,
                         testing::Combine(testing::Values(1, 10, 100),
                                          testing::Values(0.5, 2.0, 10.0), testing::Bool()));

TEST(ServiceFleet, R5_ALimitOfFewCallsIsUsedToTheLast) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ServicePlan plan{.sidecars = 3, .per_second = 0.5, .demand = 4, .span = S(60)};
    ServiceFleet fleet(plan, seed);
    fleet.store.limit = 30;
    fleet.store.seconds = 60;
    fleet.Run();
    EXPECT_EQ(std::ssize(fleet.admitted), std::min<int64_t>(fleet.calls, 30)) << seed;
  }
}

TEST(ServiceFleet, R5_WithoutTheServiceCallsAreAdmittedOrRefusedAndNoneWaitsLonger) {
  for (const bool admits : {true, false}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      ServicePlan plan = PlanService(10, 2.0);
      plan.rule.admits_when_away = admits;
      plan.timeout = absl::Milliseconds(20);
      ServiceFleet fleet(plan, seed);
      fleet.store.limit = static_cast<int64_t>(plan.per_second);
      fleet.At(S(3), [&] { fleet.store_away = true; });
      fleet.At(S(6), [&] { fleet.store_away = false; });
      fleet.Run();
      EXPECT_NEAR(fleet.AdmittedRate(S(3.2), S(6)) / plan.per_second, admits ? 2 : 0, 0.15) << seed;
      EXPECT_GE(fleet.AdmittedRate(S(7), S(10)), 0.95 * plan.per_second) << seed;
      EXPECT_LE(fleet.longest_wait, plan.timeout) << seed;
    }
  }
}

TEST(ServiceFleet, R5_AnswersThatAreLostMatterForAMomentOnly) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ServicePlan plan = PlanService(10, 2.0);
    plan.rule.admits_when_away = false;
    plan.loss = 0.02;
    ServiceFleet fleet(plan, seed);
    fleet.store.limit = static_cast<int64_t>(plan.per_second);
    fleet.Run();
    EXPECT_GE(fleet.AdmittedRate(S(0), plan.span), 0.85 * plan.per_second) << seed;
    // A wait for a small grant may come before the one for a lost answer. LeaseAdmission bounds
    // both.
    EXPECT_LE(fleet.longest_wait, plan.timeout + absl::Milliseconds(10)) << seed;
  }
}

}  // namespace
}  // namespace levee
