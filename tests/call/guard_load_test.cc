// SPDX-License-Identifier: Apache-2.0
// What the guard does for a service under load: cases G1 to G7, on virtual time.
#include "call/guard_load.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "call/over_seeds.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr WorkKind kKinds[] = {WorkKind::kFixed, WorkKind::kExponential, WorkKind::kCpu};

constexpr double kWorkMs = 10;  // of the average call

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

// A call's 99th percentile, in milliseconds, in a service that does nothing else.
double UnloadedP99Ms(WorkKind kind) {
  return kind == WorkKind::kExponential ? kWorkMs * std::log(100) : kWorkMs;
}

// The kinds' seeds together: five each, or as many as LEVEE_STORM_SEEDS says.
uint64_t KindSeeds() { return StormSeeds(5 * std::size(kKinds)); }

// The bounds are those of 200 seeds.
bool AllSeeds() { return KindSeeds() >= 200; }

// How far the mean of few seeds may be off by chance.
double Chance(const OverSeeds& figure) { return AllSeeds() ? 0 : 3 * figure.StandardError(); }

// Runs `check` with each kind of work and the seeds of its own.
void WithEachKind(const std::function<void(WorkKind, const std::vector<uint64_t>& seeds)>& check) {
  const uint64_t all = KindSeeds();
  for (uint64_t i = 0; i < std::size(kKinds); ++i) {
    std::vector<uint64_t> seeds;
    for (uint64_t seed = i + 1; seed <= all; seed += std::size(kKinds)) seeds.push_back(seed);
    SCOPED_TRACE(KindName(kKinds[i]));
    check(kKinds[i], seeds);
  }
}

std::vector<uint64_t> EveryNth(size_t n, const std::vector<uint64_t>& seeds) {
  std::vector<uint64_t> some;
  for (size_t i = 0; i < seeds.size(); i += n) some.push_back(seeds[i]);
  return some;
}

void Tell(WorkKind kind, std::string_view what, const OverSeeds& figure) {
  std::cout << KindName(kind) << ", " << what << ": " << figure << "\n";
}

TEST(CallGuardLoad, G1_GoodputStaysAtTheCapacityWhateverTheLoad) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    for (const double load : {0.5, 0.9, 1.0, 2.0, 4.0, 10.0}) {
      SCOPED_TRACE(load);
      OverSeeds goodput, p99, refusals;
      const double begin = 2.5;
      // Under an overload the first check of the limit takes an eighth of a second's goodput.
      const double end = load < 2 ? 5 : 7;
      // Runs cost as much as their calls.
      for (const uint64_t seed : EveryNth(load < 4 ? 1 : 12, seeds)) {
        const GuardRun run({.kind = kind, .seconds = end, .load = Steady(load)}, seed);
        goodput.Add(seed, run.Goodput(begin, end));
        p99.Add(seed, run.QuantileMs(0.99, begin, end, kGood));
        refusals.Add(seed, run.QuantileMs(0.99, begin, end, kRefused));
      }
      Tell(kind, absl::StrCat("load ", load, ", goodput"), goodput);
      Tell(kind, absl::StrCat("load ", load, ", p99"), p99);
      Tell(kind, absl::StrCat("load ", load, ", refusals"), refusals);
      EXPECT_GE(goodput.Mean() + Chance(goodput), 0.95) << goodput;
      const double target_ms = absl::ToDoubleMilliseconds(QueuePolicy().target);
      const double bound = UnloadedP99Ms(kind) + 2 * kWorkMs + 2 * target_ms;
      // The longest queue is that of a load that is just the capacity: it does not stand yet, and
      // the limit leaves room for as many to wait as are worked on.
      const double longer = AllSeeds() ? 1.8 : 1.35;
      EXPECT_LE(p99.Mean() - Chance(p99), load == 1.0 ? bound * longer : bound) << p99;
      EXPECT_LE(refusals.Mean() - Chance(refusals), target_ms) << refusals;
    }
  });
}

TEST(CallGuardLoad, G2_AServiceThatLosesAndRegainsItsRoomIsFollowedWithin5Seconds) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    OverSeeds less, more;
    const auto slots = [](double at) { return at >= 2 && at < 8 ? 3 : 8; };
    for (const uint64_t seed : seeds) {
      const GuardRun run({.kind = kind, .seconds = 14, .load = Steady(2), .slots_at = slots}, seed);
      less.Add(seed, run.Goodput(7, 8) * 8 / 3);
      more.Add(seed, run.Goodput(13, 14));
    }
    Tell(kind, "3 slots", less);
    Tell(kind, "8 slots", more);
    EXPECT_GE(less.Mean() + Chance(less), 0.95) << less;
    EXPECT_GE(more.Mean() + Chance(more), 0.95) << more;
  });
}

TEST(CallGuardLoad, G3_MethodsOf1And100MillisecondsBothGetTheirShare) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    // One slow call for 100 fast ones: half of the work each.
    constexpr double kSlow = 0.1, kFast = 0.001, kFastCalls = 100;
    GuardLoad setting{.kind = kind, .slots = 4, .seconds = 6, .load = Steady(2)};
    setting.work = absl::Seconds((kSlow + kFastCalls * kFast) / (kFastCalls + 1));
    const auto is_slow = [](const LoadCall& call) { return call.work > Ms(50); };
    setting.shape = [](int64_t n, LoadCall& call) {
      call.work = absl::Seconds(n % 101 == 0 ? kSlow : kFast);
      call.method = n % 101 == 0 ? 1 : 2;
    };
    const double fair = setting.PerSecond() * 4 / (kFastCalls + 1);
    OverSeeds slow_share, fast_share, spread;
    for (const uint64_t seed : seeds) {
      const GuardRun run(setting, seed);
      const auto slow = run.Count(2, 6, [&](auto& call) { return is_slow(call) && call.ok(); });
      const auto fast = run.Count(2, 6, [&](auto& call) { return !is_slow(call) && call.ok(); });
      slow_share.Add(seed, static_cast<double>(slow) / fair);
      fast_share.Add(seed, static_cast<double>(fast) / (fair * kFastCalls));
      const auto [least, most] = std::minmax_element(run.limits().begin() + 40, run.limits().end());
      spread.Add(seed, static_cast<double>(*most) / *least);
    }
    Tell(kind, "slow", slow_share);
    Tell(kind, "fast", fast_share);
    Tell(kind, "limit", spread);
    // What a slow call takes is a matter of luck where it is random.
    const double luck = kind == WorkKind::kExponential ? 0.05 : 0;
    for (const OverSeeds& share : {slow_share, fast_share}) {
      EXPECT_GE(share.Quantile(luck), 0.8) << share;
      EXPECT_LE(share.Most(), 1.2) << share;
    }
    if (AllSeeds()) {
      EXPECT_LE(spread.Quantile(0.9), 4) << spread;
    }
  });
}

TEST(CallGuardLoad, G4_ABurstOf50MillisecondsCostsNoCall) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    GuardLoad setting{.kind = kind, .seconds = 7};
    setting.load = [](double at) { return at >= 5 && at < 5.05 ? 2.0 : 0.5; };
    OverSeeds lost;
    for (const uint64_t seed : seeds) {
      const GuardRun run(setting, seed);
      lost.Add(seed, static_cast<double>(run.Count(0, 7, kAll) - run.Count(0, 7, kGood)));
    }
    Tell(kind, "lost", lost);
    // A burst and the work in it are random. Now and then they are too much together.
    if (AllSeeds()) {
      EXPECT_EQ(lost.Quantile(0.95), 0) << lost;
    }
    EXPECT_LE(lost.Mean() - Chance(lost), 0.5) << lost;
  });
}

TEST(CallGuardLoad, G4_TheExcessOfABurstOf100MillisecondsIsAllThatIsRefused) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    GuardLoad setting{.kind = kind, .seconds = 7};
    setting.load = [](double at) { return at >= 5 && at < 5.1 ? 10.0 : 0.5; };
    const double room = setting.PerSecond() * 0.1;
    OverSeeds served, late;
    for (const uint64_t seed : seeds) {
      const GuardRun run(setting, seed);
      const auto refused = [&](double from, double to) {
        return static_cast<double>(run.Count(from, to, kRefused));
      };
      const auto offered = static_cast<double>(run.Count(5, 5.1, kAll));
      served.Add(seed, (offered - refused(0, 7)) / room);
      late.Add(seed, refused(0, 5) + refused(5.5, 7));
    }
    Tell(kind, "served", served);
    Tell(kind, "refused late", late);
    // One burst in fifty of random work is too much together with the work before it.
    EXPECT_GE(served.Quantile(0.02), 0.95) << served;
    EXPECT_EQ(late.Quantile(0.97), 0) << late;
  });
}

TEST(CallGuardLoad, G5_AnOverloadThatLastsAMinuteEndsAsWellAsItBegan) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    const GuardLoad setting{.kind = kind, .slots = 4, .seconds = 60, .load = Steady(2)};
    OverSeeds goodput, gain, p99;
    for (const uint64_t seed : EveryNth(4, seeds)) {
      const GuardRun run(setting, seed);
      goodput.Add(seed, run.Goodput(50, 60));
      gain.Add(seed, run.Goodput(50, 60) - run.Goodput(0, 10));
      p99.Add(seed, run.QuantileMs(0.99, 50, 60, kGood) - run.QuantileMs(0.99, 0, 10, kGood));
    }
    Tell(kind, "goodput", goodput);
    Tell(kind, "gain", gain);
    Tell(kind, "p99", p99);
    EXPECT_GE(gain.Mean() + Chance(gain), -0.01) << gain;
    EXPECT_LE(p99.Mean() - Chance(p99), 2) << p99;
  });
}

TEST(CallGuardLoad, G6_DearCallsPassWhileCheapTrafficRises12Times) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    // 0.3 of the capacity is dear; the rest rises from 0.5 to 6.
    const auto load = [](double at) { return at < 2 ? 0.8 : 6.3; };
    const auto dear = [](const LoadCall& call) { return call.facts.priority == 10; };
    OverSeeds good;
    for (const uint64_t seed : seeds) {
      GuardLoad setting{.kind = kind, .seconds = 5, .load = load};
      Random random(seed + 7);
      setting.shape = [&](int64_t, LoadCall& call) {
        const bool is_dear = random.Uniform() < 0.3 / load(call.at);
        call.facts.priority = is_dear ? 10 : 100;
      };
      const GuardRun run(setting, seed);
      const auto passed = run.Count(0, 5, [&](auto& call) { return dear(call) && call.ok(); });
      good.Add(seed, static_cast<double>(passed) / static_cast<double>(run.Count(0, 5, dear)));
    }
    Tell(kind, "good", good);
    EXPECT_GE(good.Least(), AllSeeds() ? 0.993 : 0.994) << good;
  });
}

// The tasks of a run at twice the capacity that had all of their four calls answered, as a share of
// those that the service could finish. `user_of`: the user of a task's calls, by task and call.
double FinishedTasks(WorkKind kind, uint64_t seed,
                     std::function<uint64_t(int64_t task, int64_t n)> user_of) {
  constexpr int64_t kAtATime = 100;  // tasks, whose calls come in turn
  constexpr int64_t kCalls = 4;
  const auto task_of = [](int64_t n) { return n / (kAtATime * kCalls) * kAtATime + n % kAtATime; };
  GuardLoad setting{.kind = kind, .seconds = 6, .load = Steady(2)};
  setting.shape = [&](int64_t n, LoadCall& call) { call.facts.user = user_of(task_of(n), n); };
  const GuardRun run(setting, seed);
  struct Calls {
    int64_t made = 0, good = 0;
  };
  std::map<int64_t, Calls> tasks;
  for (size_t n = 0; n < run.calls().size(); ++n) {
    const LoadCall& call = run.calls()[n];
    if (call.at < 2) continue;
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
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    OverSeeds together, at_random;
    for (const uint64_t seed : seeds) {
      const auto hash = [seed](int64_t key) {
        return Random(static_cast<uint64_t>(key) + seed * 1'000'000).Next();
      };
      const auto by_task = [&](int64_t task, int64_t) { return hash(task); };
      const auto by_call = [&](int64_t, int64_t n) { return hash(n); };
      together.Add(seed, FinishedTasks(kind, seed, by_task));
      if (seed == seeds.front() || seed % 8 == 0)
        at_random.Add(seed, FinishedTasks(kind, seed, by_call));
    }
    Tell(kind, "together", together);
    Tell(kind, "at random", at_random);
    EXPECT_GE(together.Mean() + Chance(together), 0.8) << together;
    EXPECT_LE(at_random.Mean() - Chance(at_random), 0.2) << at_random;
  });
}

// The limit in the last second of a load, on average.
double LastLimit(const GuardLoad& setting, uint64_t seed) {
  const GuardRun run(setting, seed);
  return std::accumulate(run.limits().end() - 10, run.limits().end(), 0.0) / 10;
}

TEST(CallGuardLoad, AServiceThatFailsLateIsGivenNoMoreThanItsRoom) {
  WithEachKind([](WorkKind kind, const std::vector<uint64_t>& seeds) {
    GuardLoad setting{.kind = kind, .seconds = 5, .load = Steady(2)};
    setting.shape = [](int64_t, LoadCall& call) { call.answer = StatusCode::kUnavailable; };
    OverSeeds limit;
    for (const uint64_t seed : EveryNth(12, seeds)) limit.Add(seed, LastLimit(setting, seed));
    Tell(kind, "limit", limit);
    EXPECT_LE(limit.Mean() - Chance(limit), 14) << limit;
  });
}

TEST(CallGuardLoad, FailuresThatComeSoonerThanAnswersHideNoQueue) {
  // After two calm seconds the service works on one call in four, and fails the others at once.
  GuardLoad setting{.kind = WorkKind::kCpu, .seconds = 5};
  setting.load = [](double at) { return at < 2 ? 0.5 : 8; };
  setting.shape = [](int64_t n, LoadCall& call) {
    if (call.at < 2 || n % 4 == 0) return;
    call.answer = StatusCode::kInvalidArgument;
    call.work = absl::ZeroDuration();
  };
  OverSeeds p99;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    p99.Add(seed, GuardRun(setting, seed).QuantileMs(0.99, 3, 5, kGood));
  }
  Tell(setting.kind, "p99", p99);
  EXPECT_LE(p99.Mean() - Chance(p99), 2 * kWorkMs) << p99;
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
