// SPDX-License-Identifier: Apache-2.0
// The promises of a limit, under random rates, bursts and workers. Each case is named by its seed.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/rate_limiter.h"

namespace levee {
namespace {

constexpr int kCases = 300;
constexpr int kSteps = 1000;

RateLimitPolicy RandomPolicy(Random& random) {
  constexpr double kRates[] = {1e-3, 1, 7, 100, 333.3, 1e6};
  RateLimitPolicy policy;
  policy.per_second = kRates[random.Below(6)] * (0.5 + random.Uniform());
  policy.burst = static_cast<int>(1 + random.Below(30));
  const double intervals = random.Below(3) == 0 ? 0 : 10 * random.Uniform();
  policy.max_wait = absl::Seconds(intervals / policy.per_second);
  return policy;
}

// Calls of workers whose clocks differ, some of which give their permit back, perhaps after others
// have taken one.
class RandomCalls {
 public:
  explicit RandomCalls(uint64_t seed)
      : random_(seed), policy_(RandomPolicy(random_)), limit_(policy_), clocks_(3) {}

  // False if two waiting calls became due in the wrong order.
  bool Run() {
    for (int step = 0; step < kSteps; ++step) {
      Advance();
      if (returning_ && random_.Below(3) == 0) ReturnOne();
      const Instant now = clocks_[random_.Below(clocks_.size())];
      const RateLimiter::Permit permit = limit_.Take({}, now, policy_.max_wait);
      if (!permit.granted) continue;
      const Instant due = now + permit.wait;
      if (random_.Below(10) == 0) {
        ReturnOne();
        returning_ = permit;
        continue;
      }
      due_.push_back(due);
      if (permit.wait == absl::ZeroDuration()) continue;
      if (due < last_due_) return false;
      last_due_ = due;
    }
    return true;
  }

  // The most permits by which a span of time holds more than burst + rate x span.
  double Excess() {
    std::sort(due_.begin(), due_.end());
    double lowest = 0;
    double excess = -1;
    for (size_t i = 0; i < due_.size(); ++i) {
      // The span from first to last is a nanosecond longer than it seems: waits are rounded up.
      const double made = policy_.per_second * absl::ToDoubleSeconds(due_[i] - due_[0]);
      const double ahead = static_cast<double>(i) - made;
      lowest = i == 0 ? ahead : std::min(lowest, ahead);
      excess = std::max(excess, ahead + 1 - lowest - policy_.burst - policy_.per_second * 1e-9);
    }
    return excess;
  }

  size_t permits() const { return due_.size(); }

 private:
  // Mostly small steps, sometimes a pause in which the bucket fills.
  void Advance() {
    const double intervals =
        random_.Below(100) == 0 ? 2.0 * policy_.burst * random_.Uniform() : 1.5 * random_.Uniform();
    now_ = now_ + absl::Seconds(intervals / policy_.per_second);
    for (Instant& clock : clocks_) {
      if (random_.Below(2) == 0) clock = now_;
    }
  }

  void ReturnOne() {
    if (returning_) limit_.Return({}, *returning_);
    returning_.reset();
  }

  Random random_;
  const RateLimitPolicy policy_;
  RateLimiter limit_;
  std::vector<Instant> clocks_;
  Instant now_ = Instant() + absl::Hours(100);
  std::optional<RateLimiter::Permit> returning_;
  std::vector<Instant> due_;
  Instant last_due_;
};

TEST(RateLimiterProperty, NoSpanHoldsMoreThanTheBurstAndTheRate) {
  for (uint64_t seed = 1; seed <= kCases; ++seed) {
    RandomCalls calls(seed);
    ASSERT_TRUE(calls.Run()) << "seed " << seed << ": due in the wrong order";
    ASSERT_GT(calls.permits(), 10u) << "seed " << seed;
    ASSERT_LE(calls.Excess(), 1e-3) << "seed " << seed;
  }
}

// Somebody asks at every moment, so that nothing is lost to a full bucket.
TEST(RateLimiterProperty, WhatTheRateMakesIsGranted) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    RateLimitPolicy policy = RandomPolicy(random);
    ++policy.burst;  // at least 2: one permit's room for what a step makes
    RateLimiter limit(policy);
    Instant now = Instant() + absl::Hours(1);
    const Instant start = now;
    int64_t taken = 0;
    for (int step = 0; step < kSteps; ++step) {
      while (limit.Take({}, now, absl::ZeroDuration()).granted) ++taken;
      now = now + absl::Seconds(random.Uniform() * (policy.burst - 1) / policy.per_second);
    }
    while (limit.Take({}, now, absl::ZeroDuration()).granted) ++taken;
    const double made = policy.per_second * absl::ToDoubleSeconds(now - start) + policy.burst;
    ASSERT_LE(static_cast<double>(taken), made + 1e-3) << "seed " << seed;
    ASSERT_GT(static_cast<double>(taken), made - 1 - 1e-3) << "seed " << seed;
  }
}

}  // namespace
}  // namespace levee
