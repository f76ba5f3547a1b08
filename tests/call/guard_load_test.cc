// SPDX-License-Identifier: Apache-2.0
// What the guard does for a service under load: cases G1 to G7, on virtual time.
#include "call/guard_load.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace levee {
namespace {

constexpr WorkKind kKinds[] = {WorkKind::kFixed, WorkKind::kExponential, WorkKind::kCpu};

constexpr double kWorkMs = 10;  // of the average call

constexpr auto kAll = [](const LoadCall&) { return true; };
constexpr auto kGood = [](const LoadCall& call) { return call.ok(); };
constexpr auto kRefused = [](const LoadCall& call) {
  return call.code == StatusCode::kResourceExhausted;
};

std::string KindName(WorkKind kind) {
  switch (kind) {
    case WorkKind::kFixed:
      return "fixed";
    case WorkKind::kExponential:
      return "exponential";
    case WorkKind::kCpu:
      return "cpu";
  }
  return "";
}

std::function<double(double)> Steady(double load) {
  return [load](double) { return load; };
}

// A call's 99th percentile, in milliseconds, in a service that does nothing else.
double UnloadedP99Ms(WorkKind kind) {
  return kind == WorkKind::kExponential ? kWorkMs * std::log(100) : kWorkMs;
}

TEST(CallGuardLoad, G1_GoodputStaysAtTheCapacityWhateverTheLoad) {
  for (const WorkKind kind : kKinds) {
    for (const double load : {0.5, 0.9, 1.0, 2.0, 4.0, 10.0}) {
      SCOPED_TRACE(absl::StrCat(KindName(kind), " at ", load));
      double goodput = 0, p99 = 0, refusals = 0;
      constexpr uint64_t kSeeds = 2;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const GuardRun run({.kind = kind, .seconds = 11, .load = Steady(load)}, seed);
        goodput += run.Goodput(4, 11) / kSeeds;
        p99 += run.QuantileMs(0.99, 4, 11, kGood) / kSeeds;
        refusals += run.QuantileMs(0.99, 4, 11, kRefused) / kSeeds;
      }
      EXPECT_GE(goodput, 0.95);
      const double target_ms = absl::ToDoubleMilliseconds(QueuePolicy().target);
      const double bound = UnloadedP99Ms(kind) + 2 * kWorkMs + 2 * target_ms;
      // The longest queue is that of a load that is just the capacity: it does not stand yet.
      EXPECT_LE(p99, load == 1.0 ? bound * 1.2 : bound);
      EXPECT_LE(refusals, 6);
    }
  }
}

TEST(CallGuardLoad, G2_AServiceThatLosesAndRegainsItsRoomIsFollowedWithin5Seconds) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    const auto slots = [](double at) { return at >= 8 && at < 18 ? 3 : 8; };
    const GuardRun run({.kind = kind, .seconds = 28, .load = Steady(2), .slots_at = slots}, 1);
    EXPECT_GE(run.Goodput(13, 18) * 8 / 3, 0.95);
    EXPECT_GE(run.Goodput(23, 28), 0.95);
  }
}

TEST(CallGuardLoad, G3_MethodsOf1And100MillisecondsBothGetTheirShare) {
  for (const WorkKind kind : {WorkKind::kFixed, WorkKind::kCpu}) {
    SCOPED_TRACE(KindName(kind));
    // One slow call for 100 fast ones: half of the work each.
    constexpr double kSlow = 0.1, kFast = 0.001, kFastCalls = 100;
    GuardLoad setting{.kind = kind, .seconds = 12, .load = Steady(2)};
    setting.work = absl::Seconds((kSlow + kFastCalls * kFast) / (kFastCalls + 1));
    const auto is_slow = [](const LoadCall& call) { return call.work > Ms(50); };
    setting.shape = [](int64_t n, LoadCall& call) {
      call.work = absl::Seconds(n % 101 == 0 ? kSlow : kFast);
      call.method = n % 101 == 0 ? 1 : 2;
    };
    const GuardRun run(setting, 1);
    const auto slow = run.Count(4, 12, [&](auto& call) { return is_slow(call) && call.ok(); });
    const auto fast = run.Count(4, 12, [&](auto& call) { return !is_slow(call) && call.ok(); });
    const double fair = run.load().PerSecond() * 8 / (kFastCalls + 1);
    EXPECT_NEAR(static_cast<double>(slow) / fair, 1, 0.2);
    EXPECT_NEAR(static_cast<double>(fast) / (fair * kFastCalls), 1, 0.2);
  }
}

TEST(CallGuardLoad, G4_ABurstOf50MillisecondsCostsNoCall) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      GuardLoad setting{.kind = kind, .seconds = 8};
      setting.load = [](double at) { return at >= 5 && at < 5.05 ? 2.0 : 0.5; };
      const GuardRun run(setting, seed);
      EXPECT_EQ(run.Count(0, 8, kRefused), 0) << "seed " << seed;
      EXPECT_EQ(run.Count(0, 8, kGood), run.Count(0, 8, kAll)) << "seed " << seed;
    }
  }
}

TEST(CallGuardLoad, G4_TheExcessOfABurstOf100MillisecondsIsAllThatIsRefused) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    GuardLoad setting{.kind = kind, .seconds = 8};
    setting.load = [](double at) { return at >= 5 && at < 5.1 ? 10.0 : 0.5; };
    const GuardRun run(setting, 1);
    const double offered = static_cast<double>(run.Count(5, 5.1, kAll));
    const double room = run.load().PerSecond() * 0.1;
    EXPECT_LE(static_cast<double>(run.Count(0, 8, kRefused)), offered - 0.95 * room);
    EXPECT_EQ(run.Count(5.5, 8, kRefused), 0);
  }
}

TEST(CallGuardLoad, G5_AnOverloadThatLastsAMinuteEndsAsWellAsItBegan) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    const GuardRun run({.kind = kind, .seconds = 60, .load = Steady(2)}, 1);
    EXPECT_GE(run.Goodput(50, 60), run.Goodput(0, 10) - 0.01);
    EXPECT_LE(run.QuantileMs(0.99, 50, 60, kGood), run.QuantileMs(0.99, 0, 10, kGood) + 2);
  }
}

TEST(CallGuardLoad, G6_DearCallsPassWhileCheapTrafficRises12Times) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    // 0.3 of the capacity is dear; the rest rises from 0.5 to 6.
    const auto load = [](double at) { return at < 4 ? 0.8 : 6.3; };
    GuardLoad setting{.kind = kind, .seconds = 12, .load = load};
    Random random(7);
    setting.shape = [&](int64_t, LoadCall& call) {
      const bool dear = random.Uniform() < 0.3 / load(call.at);
      call.facts.priority = dear ? 10 : 100;
    };
    const GuardRun run(setting, 1);
    const auto dear = [](const LoadCall& call) { return call.facts.priority == 10; };
    const auto good = run.Count(0, 12, [&](auto& call) { return dear(call) && call.ok(); });
    EXPECT_GE(static_cast<double>(good), 0.994 * static_cast<double>(run.Count(0, 12, dear)));
  }
}

// The tasks of a run at twice the capacity that had all of their four calls answered, as a share of
// those that the service could finish. `user_of`: the user of a task's calls, by task and call.
double FinishedTasks(WorkKind kind, uint64_t seed,
                     std::function<uint64_t(int64_t task, int64_t n)> user_of) {
  constexpr int64_t kAtATime = 100;  // tasks, whose calls come in turn
  constexpr int64_t kCalls = 4;
  const auto task_of = [](int64_t n) { return n / (kAtATime * kCalls) * kAtATime + n % kAtATime; };
  GuardLoad setting{.kind = kind, .seconds = 12, .load = Steady(2)};
  setting.shape = [&](int64_t n, LoadCall& call) { call.facts.user = user_of(task_of(n), n); };
  const GuardRun run(setting, seed);
  struct Calls {
    int64_t made = 0, good = 0;
  };
  std::map<int64_t, Calls> tasks;
  for (size_t n = 0; n < run.calls().size(); ++n) {
    const LoadCall& call = run.calls()[n];
    if (call.at < 4) continue;
    Calls& task = tasks[task_of(static_cast<int64_t>(n))];
    ++task.made;
    task.good += call.ok();
  }
  double whole = 0, finished = 0;
  for (const auto& [task, calls] : tasks) {
    whole += calls.made == kCalls;
    finished += calls.good == kCalls;
  }
  return finished / (whole / setting.load(0));
}

TEST(CallGuardLoad, G7_TasksOfFourCallsFinishBecauseAUsersCallsPassOrFailTogether) {
  for (const WorkKind kind : kKinds) {
    SCOPED_TRACE(KindName(kind));
    const auto hash = [](int64_t key) { return Random(static_cast<uint64_t>(key)).Next(); };
    double together = 0, at_random = 0;
    constexpr uint64_t kSeeds = 3;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto by_task = [&](int64_t task, int64_t) { return hash(task); };
      const auto by_call = [&](int64_t, int64_t n) { return hash(n); };
      together += FinishedTasks(kind, seed, by_task) / kSeeds;
      at_random += FinishedTasks(kind, seed, by_call) / kSeeds;
    }
    EXPECT_GE(together, 0.8);
    EXPECT_LE(at_random, 0.2);
  }
}

TEST(CallGuardLoad, AnObservingGuardRefusesNothingAndCountsWhatItWould) {
  GuardPolicy observe;
  observe.observe = true;
  const GuardLoad setting{.seconds = 6, .load = Steady(0.9)};
  GuardRun calm(setting, 1, observe);
  EXPECT_EQ(calm.Count(0, 6, kGood), calm.Count(0, 6, kAll));
  const GuardLoad twice{.seconds = 6, .load = Steady(2)};
  GuardRun busy(twice, 1, observe);
  EXPECT_EQ(busy.Count(0, 6, kRefused), 0);
  const auto would = [&](GuardDecision decision) {
    return busy.Count(2, 6, [&](const LoadCall& call) { return call.decision == decision; });
  };
  // Of calls that all are served, late, by far the most would find no slot.
  EXPECT_GT(would(GuardDecision::kRefused), busy.Count(2, 6, kAll) / 3);
  EXPECT_EQ(busy.view().in_flight, 0);
  EXPECT_EQ(busy.view().waiting, 0);
}

}  // namespace
}  // namespace levee
