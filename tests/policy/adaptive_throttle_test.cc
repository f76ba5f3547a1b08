// SPDX-License-Identifier: Apache-2.0
#include "policy/adaptive_throttle.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

constexpr int kSeeds = 1000;
constexpr ThrottlePolicy kEnforce = {.mode = ThrottleMode::kEnforce};

void Ends(AdaptiveThrottle& throttle, int n, bool overload, Instant now) {
  for (int i = 0; i < n; ++i) throttle.OnEnd(0, overload, now);
}

int Rejected(AdaptiveThrottle& throttle, int calls, Instant now) {
  Random random(7);
  int rejected = 0;
  for (int i = 0; i < calls; ++i) {
    rejected += throttle.Decide(0, random, now) == ThrottleDecision::kRejected;
  }
  return rejected;
}

TEST(AdaptiveThrottle, RejectsNothingWhileNoAnswerSaysOverload) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 1000, false, At(1));
  EXPECT_EQ(throttle.Probability(At(1)), 0);
  EXPECT_EQ(Rejected(throttle, 1000, At(1)), 0);
}

TEST(AdaptiveThrottle, RejectsNothingWhileAHalfOfTheAnswersAreGood) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 500, false, At(1));
  Ends(throttle, 500, true, At(1));
  EXPECT_EQ(Rejected(throttle, 1000, At(1)), 0);
}

TEST(AdaptiveThrottle, RejectsTheShareThatIsAboveKTimesTheGoodAnswers) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 100, false, At(1));
  Ends(throttle, 899, true, At(1));
  EXPECT_DOUBLE_EQ(throttle.Probability(At(1)), 799.0 / 1000);
  // Rejected calls are requests too: 300 / 1300.
  EXPECT_GT(Rejected(throttle, 300, At(1)), 200);
  EXPECT_GT(throttle.Probability(At(1)), 0.82);
}

TEST(AdaptiveThrottle, RejectsNothingBelowTheLeastNumberOfCalls) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 19, true, At(1));
  EXPECT_EQ(throttle.Probability(At(1)), 0);
  Ends(throttle, 1, true, At(1));
  EXPECT_DOUBLE_EQ(throttle.Probability(At(1)), 20.0 / 21);
}

TEST(AdaptiveThrottle, ForgetsWhatIsOlderThanTheWindow) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 100, true, At(0));
  EXPECT_GT(throttle.Probability(At(3.2)), 0.9);
  EXPECT_EQ(throttle.Probability(At(3.3)), 0);
  EXPECT_EQ(Rejected(throttle, 100, At(3.3)), 0);
}

TEST(AdaptiveThrottle, LetsOneCallASecondThroughHoweverBadItIs) {
  AdaptiveThrottle throttle({.k = 1, .mode = ThrottleMode::kEnforce}, 1);
  Random random(3);
  int admitted = 0;
  for (int ms = 0; ms < 20'000; ms += 10) {
    const Instant now = At(ms / 1000.0);
    Ends(throttle, 1000, true, now);
    admitted += throttle.Decide(0, random, now) == ThrottleDecision::kAdmitted;
  }
  EXPECT_EQ(admitted, 20);
}

TEST(AdaptiveThrottle, OpensAgainAsGoodAnswersCome) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Random random(3);
  Ends(throttle, 300, true, At(0));
  int rejected_at_last = 0;
  for (int ms = 0; ms < 10'000; ms += 10) {
    const Instant now = At(ms / 1000.0);
    const ThrottleDecision decision = throttle.Decide(0, random, now);
    if (decision == ThrottleDecision::kAdmitted) throttle.OnEnd(0, false, now);
    rejected_at_last += ms >= 9000 && decision == ThrottleDecision::kRejected;
  }
  EXPECT_EQ(rejected_at_last, 0);
}

TEST(AdaptiveThrottle, OpensAtThePaceOfTheLatestAnswersOnceTheyAreAllGood) {
  AdaptiveThrottle throttle(kEnforce, 1);
  Ends(throttle, 1000, true, At(1));
  EXPECT_GT(throttle.Probability(At(2)), 0.99);
  Ends(throttle, 10, false, At(2));
  EXPECT_EQ(throttle.Probability(At(2)), 0);
  // A sign of overload says that it was too early.
  Ends(throttle, 1, true, At(2));
  EXPECT_GT(throttle.Probability(At(2)), 0.9);
}

TEST(AdaptiveThrottle, ThatObservesSaysSoAndDoesNotCountTheCallAsRejected) {
  AdaptiveThrottle throttle({}, 1);
  Random random(5);
  Ends(throttle, 999, true, At(1));
  int observed = 0;
  for (int i = 0; i < 100; ++i) {
    const ThrottleDecision decision = throttle.Decide(0, random, At(1));
    EXPECT_NE(decision, ThrottleDecision::kRejected);
    observed += decision == ThrottleDecision::kObserved;
  }
  EXPECT_GT(observed, 90);
  EXPECT_DOUBLE_EQ(throttle.Probability(At(1)), 999.0 / 1000);
}

// The rule, counted from lists of all events.
class ListedThrottle {
 public:
  explicit ListedThrottle(const ThrottlePolicy& policy) : policy_(policy) {}

  void OnEnd(bool overload, Instant now) {
    (overload ? overloads_ : accepts_).push_back(SlotOf(now));
  }
  ThrottleDecision Decide(Random& random, Instant now) {
    const double probability = Probability(now);
    if (probability <= 0 || random.Uniform() >= probability) return ThrottleDecision::kAdmitted;
    if (now >= next_probe_) {
      next_probe_ = now + absl::Seconds(1);
      return ThrottleDecision::kAdmitted;
    }
    if (policy_.mode == ThrottleMode::kObserve) return ThrottleDecision::kObserved;
    rejected_.push_back(SlotOf(now));
    return ThrottleDecision::kRejected;
  }
  double Probability(Instant now) const {
    if (Requests(now, 10) < policy_.min_calls) return 0;
    const bool recovers = Count(accepts_, now, 1) > 0 && Count(overloads_, now, 1) == 0;
    return recovers ? std::min(Surplus(now, 10), Surplus(now, 1)) : Surplus(now, 10);
  }

 private:
  int64_t SlotOf(Instant now) const {
    return now.nanos() / (absl::ToInt64Nanoseconds(policy_.window) / 10);
  }
  // Here and below: in the current slot and the `before` slots before it.
  int64_t Count(const std::vector<int64_t>& slots, Instant now, int before) const {
    // They are in order.
    return slots.end() - std::lower_bound(slots.begin(), slots.end(), SlotOf(now) - before);
  }
  int64_t Requests(Instant now, int before) const {
    return Count(accepts_, now, before) + Count(overloads_, now, before) +
           Count(rejected_, now, before);
  }
  double Surplus(Instant now, int before) const {
    const auto requests = static_cast<double>(Requests(now, before));
    const auto accepts = static_cast<double>(Count(accepts_, now, before));
    return std::max(0.0, (requests - policy_.k * accepts) / (requests + 1));
  }

  const ThrottlePolicy policy_;
  std::vector<int64_t> accepts_;  // their slots, in order
  std::vector<int64_t> overloads_;
  std::vector<int64_t> rejected_;
  Instant next_probe_;
};

// One run against the lists; false at the first difference.
bool MatchesTheLists(uint64_t seed) {
  Random random(seed);
  const int workers = static_cast<int>(1 + random.Below(4));
  const ThrottlePolicy policy = {
      .k = 1 + random.Uniform() * 2,
      .window = absl::Milliseconds(static_cast<int64_t>(100 * (1 + random.Below(50)))),
      .min_calls = static_cast<int>(1 + random.Below(30)),
      .mode = random.Below(2) == 0 ? ThrottleMode::kObserve : ThrottleMode::kEnforce};
  AdaptiveThrottle throttle(policy, workers);
  ListedThrottle listed(policy);
  Random draws(seed + 1), same_draws(seed + 1);
  double overloaded = random.Uniform();
  Instant now = At(1 + random.Uniform() * 1000);
  for (int step = 0; step < 500; ++step) {
    if (random.Below(100) == 0) overloaded = random.Uniform();
    if (random.Below(3) == 0) now = now + 0.3 * policy.window * random.Uniform();
    const int worker = static_cast<int>(random.Below(static_cast<uint64_t>(workers)));
    if (throttle.Probability(now) != listed.Probability(now)) return false;
    const ThrottleDecision decision = throttle.Decide(worker, draws, now);
    if (decision != listed.Decide(same_draws, now)) return false;
    if (decision == ThrottleDecision::kRejected) continue;
    const bool overload = random.Uniform() < overloaded;
    throttle.OnEnd(worker, overload, now);
    listed.OnEnd(overload, now);
  }
  return true;
}

TEST(AdaptiveThrottleProperty, DecidesAsTheRuleCountedFromAListOfAllEvents) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) ASSERT_TRUE(MatchesTheLists(seed)) << seed;
}

TEST(AdaptiveThrottleThreads, NothingIsLostOrCountedTwiceAndOneProbeASecondPasses) {
  constexpr int kCalls = 200'000;
  AdaptiveThrottle throttle({.k = 1, .min_calls = 1, .mode = ThrottleMode::kEnforce}, 2);
  throttle.OnEnd(0, /*overload=*/true, At(5));
  std::atomic<int64_t> rejected{0}, admitted{0};
  const auto race = [&](int worker) {
    Random random(static_cast<uint64_t>(worker) + 1);
    for (int i = 0; i < kCalls; ++i) {
      const ThrottleDecision decision = throttle.Decide(worker, random, At(5));
      (decision == ThrottleDecision::kRejected ? rejected : admitted).fetch_add(1);
      if (decision == ThrottleDecision::kAdmitted) throttle.OnEnd(worker, true, At(5));
    }
  };
  std::thread other(race, 1);
  race(0);
  other.join();
  EXPECT_EQ(rejected + admitted, 2 * kCalls);
  const double requests = static_cast<double>(1 + rejected + admitted);
  EXPECT_DOUBLE_EQ(throttle.Probability(At(5)), requests / (requests + 1));
  // Probes and draws apart: the draws admit about one call in each of the numbers of requests.
  EXPECT_LT(admitted, 100);
}

TEST(AdaptiveThrottleThreads, OneProbeIsNeverTakenTwice) {
  AdaptiveThrottle throttle(kEnforce, 2);
  Ends(throttle, 1000, true, At(5));
  std::atomic<int> admitted{0};
  const auto race = [&](int worker) {
    for (int i = 0; i < 20'000; ++i) {
      Random rejects(1);  // its first draw is below the probability
      admitted += throttle.Decide(worker, rejects, At(5)) == ThrottleDecision::kAdmitted;
    }
  };
  std::thread other(race, 1);
  race(0);
  other.join();
  EXPECT_EQ(admitted, 1);
}

}  // namespace
}  // namespace levee
