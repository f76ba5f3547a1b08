// SPDX-License-Identifier: Apache-2.0
// RateGuard lets through what its bound allows, and nothing else.
#include "base/rate_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace levee {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Sends `events` at one instant and returns how many passed.
int TakeAtOnce(RateGuard& guard, Instant now, int events) {
  int passed = 0;
  for (int i = 0; i < events; ++i) passed += guard.Take(now) ? 1 : 0;
  return passed;
}

TEST(RateGuard, LetsTheBurstThroughAtOnceAtTheBeginning) {
  RateGuard guard(5000, 10'000);
  EXPECT_EQ(TakeAtOnce(guard, Instant::FromNanos(kSecond), 50'000), 10'000);
}

TEST(RateGuard, LetsNoMoreThanTheBurstThroughAtOnceAfterAnyQuietTime) {
  for (const int used : {0, 1, 5000, 9999, 10'000, 20'000}) {
    for (const int64_t quiet : {int64_t{2}, int64_t{3}, int64_t{1000}, int64_t{1'000'000'000}}) {
      RateGuard guard(5000, 10'000);
      TakeAtOnce(guard, Instant::FromNanos(kSecond), used);
      const Instant later = Instant::FromNanos((1 + quiet) * kSecond);
      EXPECT_EQ(TakeAtOnce(guard, later, 50'000), 10'000) << used << " used, quiet for " << quiet;
    }
  }
}

TEST(RateGuard, LetsAsManyThroughAsTheSecondsThatWentBySinceItWasEmpty) {
  RateGuard guard(10, 100);
  TakeAtOnce(guard, Instant(), 1000);
  EXPECT_EQ(TakeAtOnce(guard, Instant::FromNanos(kSecond / 10 - 1), 1000), 0);
  EXPECT_EQ(TakeAtOnce(guard, Instant::FromNanos(kSecond / 10), 1000), 1);
  EXPECT_EQ(TakeAtOnce(guard, Instant::FromNanos(3 * kSecond), 1000), 29);
}

TEST(RateGuard, NeverRefusesASteadyFlowAtItsRate) {
  for (const int per_second : {1, 3, 7, 500, 999'983}) {
    // Two, since times are whole nanoseconds: the last event may have come a little late.
    RateGuard guard(static_cast<uint32_t>(per_second), 2);
    for (int64_t i = 0; i < 10'000; ++i) {
      const int64_t due = i * kSecond / per_second;
      ASSERT_TRUE(guard.Take(Instant::FromNanos(due))) << per_second << " a second, event " << i;
    }
  }
}

TEST(RateGuard, TakesBackNoMoreThanTheBurst) {
  RateGuard guard(1, 5);
  for (int i = 0; i < 100; ++i) guard.GiveBack(8);
  EXPECT_EQ(TakeAtOnce(guard, Instant(), 100), 5);
  guard.GiveBack(3);
  EXPECT_EQ(TakeAtOnce(guard, Instant(), 100), 3);
}

// How the bucket stands when the random part of a run begins.
enum class Start { kRested, kSpent, kHalfSpent };

// Of the spans that end now, the one that has most above the rate: (events - given back) x 10^9 -
// per_second x nanoseconds. Each instant at which something happened may begin a span.
class Spans {
 public:
  Spans(int64_t per_second, int64_t burst) : per_second_(per_second), most_(burst * kSecond) {}

  // Whether one event more at `nanos` keeps every span within the bound.
  bool Allow(int64_t nanos) {
    MoveTo(nanos);
    return worst_ + kSecond <= most_;
  }
  void Add() { worst_ += kSecond; }
  void GiveBack(int64_t nanos, int64_t count) {
    MoveTo(nanos);
    worst_ = std::max<int64_t>(worst_ - count * kSecond, 0);
  }

 private:
  // A span that begins now has nothing yet, so the worst is never below 0.
  void MoveTo(int64_t nanos) {
    worst_ = std::max<int64_t>(worst_ - per_second_ * (nanos - now_), 0);
    now_ = nanos;
  }

  const int64_t per_second_;
  const int64_t most_;
  int64_t worst_ = 0;
  int64_t now_ = 0;
};

// Bursts, pauses shorter and longer than the bucket takes to fill, and single nanoseconds.
int64_t RandomPause(Random& random, int64_t fill_nanos) {
  switch (random.Below(6)) {
    case 0:
      return static_cast<int64_t>(random.Below(3));
    case 1:
      return static_cast<int64_t>(random.Below(static_cast<uint64_t>(fill_nanos) + 2));
    case 2:
      return random.Below(20) == 0 ? 3 * fill_nanos : 1;
    default:
      return 0;
  }
}

TEST(RateGuard, LetsThroughExactlyWhatKeepsEverySpanWithinTheBound) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const auto per_second = static_cast<int64_t>(1 + random.Below(seed % 2 == 0 ? 20 : 1'000'000));
    const auto burst = static_cast<int64_t>(1 + random.Below(30));
    const int64_t fill_nanos = burst * kSecond / per_second + 1;
    RateGuard guard(static_cast<uint32_t>(per_second), static_cast<uint32_t>(burst));
    Spans spans(per_second, burst);
    int64_t nanos = kSecond;
    const auto take = [&] {
      const bool allowed = spans.Allow(nanos);
      if (allowed) spans.Add();
      ASSERT_EQ(guard.Take(Instant::FromNanos(nanos)), allowed) << "seed " << seed;
    };
    const Start start = static_cast<Start>(seed % 3);
    const int64_t used = start == Start::kRested ? 0 : start == Start::kSpent ? burst + 1 : burst / 2;
    for (int64_t i = 0; i < used; ++i) take();
    for (int i = 0; i < 300; ++i) {
      nanos += RandomPause(random, fill_nanos);
      if (random.Below(10) == 0) {
        const auto count = static_cast<uint32_t>(random.Below(9));
        guard.GiveBack(count);
        spans.GiveBack(nanos, count);
      }
      take();
    }
  }
}

// The promise of the header, counted over each pair of events that passed.
TEST(RateGuard, LetsNoMoreThroughInAnySpanThanTheBurstAndTheRateTimesItsLength) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const auto per_second = static_cast<int64_t>(1 + random.Below(50));
    const auto burst = static_cast<int64_t>(1 + random.Below(30));
    RateGuard guard(static_cast<uint32_t>(per_second), static_cast<uint32_t>(burst));
    std::vector<int64_t> passed;
    int64_t nanos = kSecond;
    for (int i = 0; i < 500; ++i) {
      nanos += RandomPause(random, burst * kSecond / per_second + 1);
      if (guard.Take(Instant::FromNanos(nanos))) passed.push_back(nanos);
    }
    for (size_t first = 0; first < passed.size(); ++first) {
      for (size_t last = first; last < passed.size(); ++last) {
        const auto events = static_cast<int64_t>(last - first + 1);
        ASSERT_LE((events - burst) * kSecond, per_second * (passed[last] - passed[first])) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace levee
