// SPDX-License-Identifier: Apache-2.0
// A74 with real threads and virtual time: the rate is exact however many workers ask.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "policy/key_of.h"
#include "policy/rate_limiter.h"
#include "policy/times.h"

namespace levee {
namespace {

constexpr int64_t kThreeSeconds = 3'000'000'000;

// Runs `body(worker)` on two threads and adds up what they return.
template <typename Body>
int64_t OnTwoThreads(const Body& body) {
  int64_t others = 0;
  std::thread other([&] { others = body(1); });
  const int64_t own = body(0);
  other.join();
  return own + others;
}

int64_t DrainShared(RateLimiter& limit, const LimitKey& key, Instant now) {
  int64_t taken = 0;
  while (limit.Take(key, now, kNoWait).granted) ++taken;
  return taken;
}

// Both threads empty the bucket at time zero, then go through three seconds on one clock that each
// step of either moves on, then empty it once more. In between the bucket cannot fill up: a thread
// that stands still holds back one step, while the other goes on asking at each of its own.
int64_t PermitsOfThreeSeconds(RateLimiter& limit, const LimitKey& key, int64_t step_nanos) {
  int64_t taken = OnTwoThreads([&](int) { return DrainShared(limit, key, Instant()); });
  std::atomic<int64_t> clock{0};
  taken += OnTwoThreads([&](int) {
    int64_t own = 0;
    for (;;) {
      const int64_t nanos = clock.fetch_add(step_nanos, std::memory_order_relaxed);
      if (nanos > kThreeSeconds) return own;
      if (limit.Take(key, Instant::FromNanos(nanos), kNoWait).granted) ++own;
    }
  });
  const Instant end = Instant::FromNanos(kThreeSeconds);
  return taken + OnTwoThreads([&](int) { return DrainShared(limit, key, end); });
}

TEST(RateLimiterThreads, A74_TheRateIsExactOverThreeSeconds) {
  RateLimiter limit({.per_second = 100'000, .burst = 20});
  EXPECT_EQ(PermitsOfThreeSeconds(limit, {}, 4'000), 20 + 300'000);
}

TEST(RateLimiterThreads, A74_AKeysRateIsExactOverThreeSeconds) {
  RateLimiter limit(
      {.per_second = 20'000, .burst = 20, .key = {RateLimitKey::Method()}, .max_keys = 10});
  EXPECT_EQ(PermitsOfThreeSeconds(limit, KeyOf("/shop.Cart/Add"), 20'000), 20 + 60'000);
}

TEST(RateLimiterThreads, A74_AnAdaptiveLimitsRateIsExactOverThreeSeconds) {
  RateLimiter limit({.per_second = 20'000, .burst = 20, .adaptive = true});
  EXPECT_EQ(PermitsOfThreeSeconds(limit, {}, 20'000), 20 + 60'000);
}

TEST(RateLimiterThreads, A75_NoTwoWaitingCallsGetTheSamePlaceInLine) {
  constexpr int kCalls = 50'000;
  RateLimiter limit({.per_second = 1000, .burst = 1});
  std::vector<Instant> due[2];
  OnTwoThreads([&](int worker) {
    for (int i = 0; i < kCalls; ++i) {
      due[worker].push_back(Instant() + limit.Take({}, Instant(), absl::InfiniteDuration()).wait);
    }
    return 0;
  });
  // Together they hold each millisecond once, and each thread's own rise.
  std::vector<bool> held(2 * kCalls);
  for (const std::vector<Instant>& own : due) {
    for (size_t i = 0; i < own.size(); ++i) {
      ASSERT_TRUE(i == 0 || own[i] > own[i - 1]);
      const int64_t place = own[i].nanos() / 1'000'000;
      ASSERT_EQ(own[i].nanos() % 1'000'000, 0);
      ASSERT_LT(place, 2 * kCalls);
      ASSERT_FALSE(held[static_cast<size_t>(place)]);
      held[static_cast<size_t>(place)] = true;
    }
  }
}

TEST(RateLimiterThreads, TwoLimitsTogetherNeverAdmitMoreThanEither) {
  RateLimiter wide({.per_second = 1, .burst = 30'000});
  RateLimiter narrow({.per_second = 1, .burst = 20'000});
  RateLimiter* const limits[] = {&narrow, &wide};
  const LimitKey keys[2] = {};
  const int64_t admitted = OnTwoThreads([&](int) {
    int64_t own = 0;
    for (int i = 0; i < 40'000; ++i) {
      const RateAdmission admission = AdmitCall(limits, keys, Instant(), absl::InfiniteDuration());
      if (admission.refused_by == RateAdmission::kNone) ++own;
    }
    return own;
  });
  EXPECT_EQ(admitted, 20'000);
  // A race for the narrow limit's last permit costs the wide one no more than that one.
  const int64_t left = DrainShared(wide, {}, Instant());
  EXPECT_LE(left, 10'000);
  EXPECT_GE(left, 10'000 - 1);
}

TEST(RateLimiterThreads, A77_TwoThreadsThatMakeUpKeysNeverResetABusyOne) {
  RateLimiter limit(
      {.per_second = 1, .burst = 1000, .key = {RateLimitKey::Method()}, .max_keys = 50});
  const int64_t taken = OnTwoThreads([&](int worker) {
    int64_t own = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (limit.Take(KeyOf("busy"), Instant(), kNoWait).granted) ++own;
      limit.Take(KeyOf(std::to_string(2 * i + worker)), Instant(), kNoWait);
    }
    return own;
  });
  EXPECT_EQ(taken, 1000);
}

}  // namespace
}  // namespace levee
