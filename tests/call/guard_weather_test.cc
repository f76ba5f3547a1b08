// SPDX-License-Identifier: Apache-2.0
// The guard on ordinary days: cells W of the weather, on virtual time. Calls fare as they do
// without a guard.
#include <algorithm>
#include <cstdio>

#include "call/guard_load.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// A service in which nothing waits for anything: it has as many slots as anybody could want, and
// its calls wait for something else.
constexpr int kSlots = 100'000;

// 500 calls of 20 ms a second. From second 20 on for `seconds` they take `times` as long.
GuardLoad SlowDependency(WorkKind kind, double times, double seconds) {
  GuardLoad load;
  load.kind = kind;
  load.slots = kSlots;
  load.work = Ms(20);
  load.seconds = 25 + seconds;
  load.load = [load](double) { return 500 / load.PerSecond(); };
  load.shape = [times, seconds](int64_t, LoadCall& call) {
    if (call.at >= 20 && call.at < 20 + seconds) call.work = call.work * times;
  };
  return load;
}

double OkShare(const GuardRun& run, double from, double to) {
  const auto all = run.Count(from, to, [](const LoadCall&) { return true; });
  const auto ok = run.Count(from, to, [](const LoadCall& call) { return call.ok(); });
  return static_cast<double>(ok) / static_cast<double>(all);
}

// The worst of the seeds, from so many seconds after the change on.
double WorstShare(WorkKind kind, double times, double after) {
  double worst = 1;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const GuardRun run(SlowDependency(kind, times, 20), seed);
    worst = std::min(worst, OkShare(run, 20 + after, 40));
  }
  std::printf("%.0f times slower, from second %.0f on: worst of 20 seeds %.4f\n", times, after,
              worst);
  return worst;
}

TEST(GuardWeather, W1_ADependencyThatGetsTwiceOrThreeTimesSlowerIsNoOverload) {
  for (const double times : {2.0, 3.0}) {
    EXPECT_GE(WorstShare(WorkKind::kFixed, times, /*after=*/2), 0.99);
    EXPECT_GE(WorstShare(WorkKind::kExponential, times, /*after=*/4), 0.99);
  }
}

TEST(GuardWeather, W1_NorIsOneThatGetsTenTimesSlowerOnceItHasBeenSeen) {
  EXPECT_GE(WorstShare(WorkKind::kFixed, 10, /*after=*/10), 0.99);
}

TEST(GuardWeather, W1_WhatHasGoneByIsForgotten) {
  const GuardRun run(SlowDependency(WorkKind::kFixed, 3, 20), /*seed=*/1);
  EXPECT_GE(OkShare(run, 41, 45), 0.999);
}

}  // namespace
}  // namespace levee
