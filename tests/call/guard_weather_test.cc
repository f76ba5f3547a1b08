// SPDX-License-Identifier: Apache-2.0
// The guard on ordinary days: cells W of the weather, on virtual time. Calls fare as they do
// without a guard. The figures of docs/decisions/guard.md are of LEVEE_STORM_SEEDS=20.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "call/guard_load.h"
#include "call/over_seeds.h"
#include "gtest/gtest.h"
#include "storms/seeds.h"

namespace levee {
namespace {

// A service in which nothing waits for anything: it has as many slots as anybody could want, and
// its calls wait for something else.
constexpr int kManySlots = 100'000;

template <typename F>
double Share(const GuardRun& run, double from, double to, F is) {
  return static_cast<double>(run.Count(from, to, is)) /
         static_cast<double>(std::max<int64_t>(1, run.Count(from, to, kAll)));
}

// Runs `load` with each seed. `figure`: of one run.
OverSeeds GuardFigures(const std::string& name, const GuardLoad& load,
                       const std::function<double(const GuardRun&)>& figure,
                       const GuardPolicy& policy = {}) {
  OverSeeds figures;
  for (uint64_t seed = 1; seed <= StormSeeds(5); ++seed) {
    figures.Add(seed, figure(GuardRun(load, seed, policy)));
  }
  std::printf("%s: least %.4f, most %.4f, mean %.4f\n", name.c_str(), figures.Least(),
              figures.Most(), figures.Mean());
  return figures;
}

// 500 calls of 20 ms a second. From second 20 to 40 they take `times` as long.
GuardLoad SlowDependency(WorkKind kind, double times) {
  GuardLoad load;
  load.kind = kind;
  load.slots = kManySlots;
  load.work = Ms(20);
  load.seconds = 45;
  load.load = [load](double) { return 500 / load.PerSecond(); };
  load.shape = [times](int64_t, LoadCall& call) {
    if (call.at >= 20 && call.at < 40) call.work = call.work * times;
  };
  return load;
}

// From so many seconds after the change on.
OverSeeds Served(WorkKind kind, double times, double after) {
  return GuardFigures("served", SlowDependency(kind, times),
                      [after](const GuardRun& run) { return Share(run, 20 + after, 40, kGood); });
}

TEST(GuardWeather, W1_ADependencyThatGetsTwiceOrThreeTimesSlowerIsNoOverload) {
  for (const double times : {2.0, 3.0}) {
    EXPECT_GE(Served(WorkKind::kFixed, times, /*after=*/2).Least(), 0.99);
    EXPECT_GE(Served(WorkKind::kExponential, times, /*after=*/4).Least(), 0.98);
  }
}

TEST(GuardWeather, W1_NorIsOneThatGetsTenTimesSlower) {
  EXPECT_GE(Served(WorkKind::kFixed, 10, /*after=*/4).Least(), 0.99);
  // One call in 148 is late even if nobody waits.
  EXPECT_GE(Served(WorkKind::kExponential, 10, /*after=*/5).Least(), 0.98);
}

// Most calls that waited for a slot have too little time left, and are cut short: they say nothing.
TEST(GuardWeather, W1_OneThatGetsThirtyTimesSlowerIsServedAfterTenSeconds) {
  EXPECT_GE(Served(WorkKind::kFixed, 30, /*after=*/10).Least(), 0.9);
}

// No call is answered before its deadline meanwhile, so nothing tells a service that is full from
// one whose dependency is away.
TEST(GuardWeather, W1_OneThatAnsweredNothingIsServedSoonAfterItIsBack) {
  const GuardLoad load = SlowDependency(WorkKind::kFixed, 100);
  const auto back = [&](double from, double to) {
    return GuardFigures("back", load,
                        [from, to](const GuardRun& run) { return Share(run, from, to, kGood); })
        .Least();
  };
  back(40, 41);
  EXPECT_GE(back(41, 42), 0.15);
  back(42, 43);
  EXPECT_GE(back(43, 45), 0.99);
}

TEST(GuardWeather, W1_WhatHasGoneByIsForgotten) {
  const GuardRun run(SlowDependency(WorkKind::kFixed, 3), /*seed=*/1);
  EXPECT_GE(Share(run, 41, 45, kGood), 0.999);
}

// Calls of 5 ms, of which one in twenty takes 200, for 4 workers; half of the load for 15 s.
GuardLoad HeavyTail(double load, uint64_t tail_seed = 7) {
  GuardLoad setting{.slots = 4, .work = Ms(14.75), .seconds = 45};
  setting.load = [load](double at) { return at < 15 ? std::min(0.5, load) : load; };
  const auto random = std::make_shared<Random>(tail_seed);
  setting.shape = [random](int64_t, LoadCall& call) {
    call.work = random->Uniform() < 0.05 ? Ms(200) : Ms(5);
  };
  return setting;
}

// What the limit loses that fits, and that nobody knows beforehand.
GuardPolicy TheFourSlotsOfTheService() {
  GuardPolicy policy;
  policy.concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 4};
  return policy;
}

TEST(GuardWeather, W1b_WorkWithAHeavyTailFaresAsBehindALimitThatFits) {
  const auto refused = [](const GuardRun& run) { return Share(run, 18, 45, kRefused); };
  const auto goodput = [](const GuardRun& run) { return run.Goodput(18, 45); };
  EXPECT_LE(GuardFigures("refused", HeavyTail(0.5), refused).Most(), 0.01);
  // It is 0.05 that is wanted, and 0.95 of goodput. The limit that fits loses 0.08, and 0.11.
  EXPECT_LE(GuardFigures("refused", HeavyTail(0.9), refused).Mean(),
            GuardFigures("fits", HeavyTail(0.9), refused, TheFourSlotsOfTheService()).Mean());
  for (const double load : {1.5, 10.0}) {
    EXPECT_GE(
        GuardFigures("goodput", HeavyTail(load), goodput).Mean(),
        GuardFigures("fits", HeavyTail(load), goodput, TheFourSlotsOfTheService()).Mean() - 0.08)
        << load;
  }
}

// The guard begins under the load, and so has never seen the service with room. A line inside makes
// answers late, but no call takes longer than its deadline. The calls of the second half are
// judged.
TEST(GuardWeather, W1b_AFreshGuardUnderAnOverloadDoesNotStayWhereDeadlinesEndMostCalls) {
  for (const double load : {1.5, 3.0}) {
    SCOPED_TRACE(load);
    OverSeeds late;
    for (uint64_t seed = 1; seed <= StormSeeds(30); ++seed) {
      GuardLoad setting = HeavyTail(load, /*tail_seed=*/7919 * seed + 3);
      setting.load = Steady(load);
      setting.seconds = 40;
      late.Add(seed, Share(GuardRun(setting, seed), 20, 40, [](const LoadCall& call) {
                 return call.code == StatusCode::kDeadlineExceeded;
               }));
    }
    std::cout << "late: " << late << "\n";
    EXPECT_LE(late.Mean(), 0.02);
    EXPECT_LE(late.Most(), 0.5);
  }
}

TEST(GuardWeather, W1c_NoServiceIsTakenForFullByItsFirstCalls) {
  GuardLoad load{.kind = WorkKind::kExponential, .slots = 16, .work = Ms(80), .seconds = 60};
  load.load = [](double) { return 0.9; };
  const OverSeeds refused = GuardFigures(
      "refused", load, [](const GuardRun& run) { return Share(run, 0, 60, kRefused); });
  EXPECT_LE(refused.Mean(), 0.002);
  // It is 0.01 that is wanted of each.
  EXPECT_LE(refused.Most(), 0.025);
}

TEST(GuardWeather, W3_AFreshGuardBeforeAnIdleApplicationRefusesNothing) {
  for (const auto& [per_second, work] : {std::pair(30.0, Ms(1500)), std::pair(100.0, Ms(300))}) {
    GuardLoad load{.slots = kManySlots, .work = work, .deadline = 10, .seconds = 30};
    load.load = [load, rate = per_second](double) { return rate / load.PerSecond(); };
    EXPECT_EQ(GuardFigures("refused", load,
                           [](const GuardRun& run) { return Share(run, 0, 30, kRefused); })
                  .Most(),
              0);
  }
}

// Twelve polls of 5 s a second, from second 10 on, beside 100 calls of 5 ms.
TEST(GuardWeather, W4_LongPollsThatBeginLaterTakeNoRoomFromOtherMethods) {
  GuardLoad load{.slots = kManySlots, .work = Ms(5), .deadline = 20, .seconds = 50};
  load.load = [load](double at) { return (at < 10 ? 100 : 112) / load.PerSecond(); };
  const auto random = std::make_shared<Random>(7);
  load.shape = [random](int64_t, LoadCall& call) {
    if (call.at < 10 || random->Uniform() >= 12.0 / 112) return;
    call.method = 1;
    call.work = absl::Seconds(5);
  };
  const auto refused = [](int method) {
    return [method](const GuardRun& run) {
      const auto of_method = [method](const LoadCall& call) { return call.method == method; };
      const auto lost = [of_method](const LoadCall& call) { return of_method(call) && !call.ok(); };
      return static_cast<double>(run.Count(13, 50, lost)) /
             static_cast<double>(run.Count(13, 50, of_method));
    };
  };
  // It is 0 that is wanted of others: the polls may take all slots at second 13.
  EXPECT_LE(GuardFigures("others", load, refused(0)).Most(), 0.03);
  EXPECT_LE(GuardFigures("polls", load, refused(1)).Most(), 0.05);
}

TEST(GuardWeather, W5_ALimitThatIsFarTooHighIsRightAfterTwoSeconds) {
  GuardLoad load{.slots = 4, .seconds = 12};
  load.load = [](double) { return 3.0; };
  const auto limit = [](const GuardRun& run) { return run.limits()[20]; };
  EXPECT_LE(GuardFigures("limit", load, limit).Most(), 9);
  const auto p99 = [](const GuardRun& run) { return run.QuantileMs(0.99, 3, 12, kGood); };
  EXPECT_LE(GuardFigures("p99", load, p99).Most(), 160);
}

// Half of the load for 8 s, then `load`, with calls of 10 ms on average.
GuardLoad After8Seconds(WorkKind kind, int slots, double load) {
  GuardLoad setting{.kind = kind, .slots = slots, .seconds = 30};
  setting.load = [load](double at) { return at < 8 ? std::min(0.5, load) : load; };
  return setting;
}

TEST(GuardWeather, W6_BelowTheCapacityHardlyACallIsRefused) {
  const auto refused = [](const GuardRun& run) { return Share(run, 10, 30, kRefused); };
  const std::pair<int, double> exponential[] = {{4, 0.07}, {8, 0.025}, {16, 0.005}};
  for (const auto& [slots, bound] : exponential) {
    SCOPED_TRACE(slots);
    for (const auto& [kind, most] :
         {std::pair(WorkKind::kFixed, 0.005), std::pair(WorkKind::kExponential, bound)}) {
      EXPECT_EQ(GuardFigures("refused", After8Seconds(kind, slots, 0.5), refused).Most(), 0);
      EXPECT_LE(GuardFigures("refused", After8Seconds(kind, slots, 0.9), refused).Mean(), most);
    }
  }
}

TEST(GuardWeather, W7_AServiceThatStopsForAMomentLosesHardlyACall) {
  for (const WorkKind kind : {WorkKind::kFixed, WorkKind::kExponential}) {
    GuardLoad load{.kind = kind, .seconds = 30};
    load.load = [](double) { return 0.5; };
    load.slots_at = [](double at) { return at >= 4 && static_cast<int>(at * 10) % 50 < 3 ? 0 : 8; };
    const OverSeeds lost = GuardFigures(
        "lost", load, [](const GuardRun& run) { return 1 - Share(run, 0, 30, kGood); });
    EXPECT_LE(lost.Mean(), 0.0005);
    EXPECT_LE(lost.Most(), 0.005);
  }
}

TEST(GuardWeather, W9_AroundTheCapacityRefusalsAreQuickAndGoodCallsToo) {
  for (const double load : {1.0, 1.1, 1.2, 1.4, 1.6}) {
    SCOPED_TRACE(load);
    const GuardLoad setting = After8Seconds(WorkKind::kFixed, 8, load);
    const auto p99 = [](const GuardRun& run) { return run.QuantileMs(0.99, 11, 30, kGood); };
    const auto refusals = [](const GuardRun& run) {
      return run.QuantileMs(0.99, 11, 30, kRefused);
    };
    // It is 45 that is wanted at 1.0 as well.
    EXPECT_LE(GuardFigures("p99", setting, p99).Mean(), load == 1.0 ? 52 : 45);
    EXPECT_LE(GuardFigures("refusals", setting, refusals).Mean(), 10);
  }
}

}  // namespace
}  // namespace levee
