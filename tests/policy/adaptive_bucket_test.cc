// SPDX-License-Identifier: Apache-2.0
// The bucket of an adaptive limit: like any other until an overload, then slower.
#include "policy/adaptive_bucket.h"

#include <algorithm>
#include <deque>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

// A bucket and its rule.
struct AdaptiveLimit {
  AdaptiveLimit(double per_second, int burst) : rule{per_second, burst}, bucket(rule) {}

  RatePermit Take(Instant now, absl::Duration max_wait = kNoWait) {
    return bucket.Take(rule, now, max_wait);
  }

  int Drain(Instant now, absl::Duration max_wait = kNoWait) {
    int taken = 0;
    while (Take(now, max_wait).granted) ++taken;
    return taken;
  }

  AdaptiveBucket::Rule rule;
  AdaptiveBucket bucket;
};

TEST(AdaptiveBucket, GrantsTheBurstAtOnceAndThenTheRate) {
  AdaptiveLimit limit(10, 5);
  EXPECT_EQ(limit.Drain(At(100)), 5);
  EXPECT_EQ(limit.Drain(At(100.3)), 3);
  EXPECT_EQ(limit.Drain(At(100.4)), 1);
  EXPECT_EQ(limit.Drain(At(900)), 5);
}

TEST(AdaptiveBucket, SmallStepsLoseNoPermit) {
  AdaptiveLimit limit(100, 1);
  int taken = 0;
  for (int ms = 0; ms <= 3000; ++ms) taken += limit.Drain(At(ms * 0.001));
  EXPECT_EQ(taken, 301);
}

TEST(AdaptiveBucket, A76_RefusalTellsTheTimeToTheNextPermitAndChangesNothing) {
  AdaptiveLimit limit(10, 1);
  limit.Take(At(0));
  for (int i = 0; i < 100; ++i) {
    const RatePermit permit = limit.Take(At(0.03), absl::Milliseconds(69));
    ASSERT_FALSE(permit.granted);
    ASSERT_NEAR(absl::ToDoubleSeconds(permit.wait), 0.07, 1e-8);
  }
  EXPECT_TRUE(limit.Take(At(0.1)).granted);
}

TEST(AdaptiveBucket, WaitingCallsAreOneIntervalApart) {
  AdaptiveLimit limit(10, 1);
  EXPECT_EQ(limit.Take(At(0), kForever).wait, kNoWait);
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take(At(0), kForever).wait), 0.1, 1e-8);
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take(At(0.05), kForever).wait), 0.15, 1e-8);
}

TEST(AdaptiveBucket, OverloadLowersTheRateAndTimeRaisesIt) {
  AdaptiveLimit limit(100, 1);
  for (int i = 0; i < 50; ++i) limit.Take(At(10 + i * 0.01));
  limit.bucket.OnOverloaded(limit.rule, At(10.4), At(10.5));
  const RatePermit lowered = limit.Take(At(10.5));
  EXPECT_TRUE(lowered.granted);
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take(At(10.5)).wait), 1 / 56.0, 1e-6);  // 0.7 x 80
  limit.Drain(At(60));
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take(At(60)).wait), 0.01, 1e-6);
}

// A service that takes `capacity` calls a second, and refuses the others as overloaded. Its answers
// come after 20 ms.
class LimitedService {
 public:
  // 500 calls in each second from `from` to `to`.
  struct Result {
    int wanted = 0;
    int good = 0;
    int overloaded = 0;
    double last_bad = 0;  // when a call was last refused, by the limit or by the service
  };
  Result Run(double from, double to, double capacity) {
    Result result;
    for (int i = 0; i < (to - from) * 500; ++i) {
      const double now = from + i / 500.0;
      Tell(now);
      ++result.wanted;
      tokens_ = std::min(tokens_ + capacity / 500, std::max(1.0, capacity / 100));
      if (!limit_.Take(At(now)).granted) {
        result.last_bad = now;
      } else if (tokens_ >= 1) {
        tokens_ -= 1;
        ++result.good;
      } else {
        overloads_.push_back(now);
        ++result.overloaded;
        result.last_bad = now;
      }
    }
    return result;
  }

 private:
  void Tell(double now) {
    while (!overloads_.empty() && overloads_.front() + 0.02 <= now) {
      limit_.bucket.OnOverloaded(limit_.rule, At(overloads_.front()), At(now));
      overloads_.pop_front();
    }
  }

  AdaptiveLimit limit_{600, 20};
  double tokens_ = 1;
  std::deque<double> overloads_;
};

TEST(AdaptiveBucket, IsBackWithinASecondAndAHalfOfASpike) {
  for (const double capacity : {400.0, 200.0, 100.0}) {
    LimitedService service;
    EXPECT_EQ(service.Run(10, 20, 650).good, 5000);
    service.Run(20, 22, capacity);
    const auto after = service.Run(22, 40, 650);
    EXPECT_LT(after.last_bad, 22 + 1.5) << capacity;
  }
}

TEST(AdaptiveBucket, KeepsAServiceThatStaysOverloadedBusyAndMostlyUndisturbed) {
  for (const double capacity : {400.0, 200.0, 100.0}) {
    LimitedService service;
    service.Run(10, 20, 650);
    const auto during = service.Run(20, 60, capacity);
    EXPECT_GT(during.good, 0.8 * capacity * 40) << capacity;
    EXPECT_LT(during.overloaded, 0.05 * during.good) << capacity;
  }
}

TEST(AdaptiveBucket, ASavedUpBurstDoesNotHideTheDecrease) {
  AdaptiveLimit limit(1000, 500);
  for (int i = 0; i < 5; ++i) limit.Take(At(10));  // 10 per half second
  limit.bucket.OnOverloaded(limit.rule, At(10), At(10.1));
  EXPECT_EQ(limit.Drain(At(10.1)), 7);  // a second of 0.7 x 10
  EXPECT_EQ(limit.Drain(At(100)), 500);
}

TEST(AdaptiveBucket, HoldsAPermitEvenAtLessThanOnePerSecond) {
  AdaptiveLimit limit(1000, 500);
  limit.bucket.OnOverloaded(limit.rule, At(9), At(10));
  EXPECT_EQ(limit.Drain(At(10)), 1);
  EXPECT_EQ(limit.Take(At(10)).wait, absl::Seconds(2));
}

TEST(AdaptiveBucket, IsIdleOnlyWithAllOfItsRate) {
  AdaptiveLimit limit(20, 5);
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rule, At(10)));
  for (int i = 0; i < 5; ++i) limit.Take(At(10));
  EXPECT_FALSE(limit.bucket.IdleAt(limit.rule, At(10.2)));
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rule, At(10.25)));
  limit.bucket.OnOverloaded(limit.rule, At(10.1), At(10.25));
  EXPECT_FALSE(limit.bucket.IdleAt(limit.rule, At(11)));  // full by now, but lowered
  EXPECT_TRUE(limit.bucket.IdleAt(limit.rule, At(12)));
}

TEST(AdaptiveBucket, ReturnUndoesATakeUnlessOthersHaveTakenSince) {
  AdaptiveLimit limit(10, 1);
  limit.bucket.Return(limit.rule, limit.Take(At(0)));
  const RatePermit first = limit.Take(At(0));
  EXPECT_TRUE(first.granted);
  limit.Take(At(0.1));
  limit.bucket.Return(limit.rule, first);
  EXPECT_FALSE(limit.Take(At(0.1)).granted);
}

TEST(AdaptiveBucket, ANowThatLagsBehindIsNotRefusedWhatIsThere) {
  AdaptiveLimit limit(10, 2);
  EXPECT_TRUE(limit.Take(At(5)).granted);
  EXPECT_TRUE(limit.Take(At(4.9)).granted);
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take(At(4.9)).wait), 0.2, 1e-8);
}

TEST(AdaptiveBucket, ExtremesDoNotOverflow) {
  AdaptiveLimit slow(1e-300, 1'000'000'000);
  EXPECT_TRUE(slow.Take(At(0)).granted);
  AdaptiveLimit single(1.0 / 3600, 1);
  EXPECT_EQ(single.Drain(At(0), absl::Hours(8760)), 8761);
  AdaptiveLimit fast(1e9, 1'000'000'000);
  EXPECT_TRUE(fast.Take(Instant() + absl::Hours(8760 * 100)).granted);
}

// Random overloads, calls and pauses.
TEST(AdaptiveBucket, A75_PermitsBecomeDueInOrderWhateverTheRateDoes) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    AdaptiveLimit limit(1 + random.Uniform() * 1000, static_cast<int>(1 + random.Below(20)));
    Instant now = At(1);
    Instant last_due;
    for (int step = 0; step < 1000; ++step) {
      now = now + absl::Milliseconds(20 * random.Uniform());
      if (random.Below(50) == 0) limit.bucket.OnOverloaded(limit.rule, now, now);
      const RatePermit permit = limit.Take(now, absl::Seconds(random.Uniform()));
      if (!permit.granted) continue;
      ASSERT_GE(now + permit.wait, last_due) << "seed " << seed << ", step " << step;
      last_due = now + permit.wait;
    }
  }
}

}  // namespace
}  // namespace levee
