// SPDX-License-Identifier: Apache-2.0
// Rate limits as a call meets them: one limit, and all limits of a policy together.
#include "policy/rate_limiter.h"

#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/key_of.h"
#include "policy/times.h"

namespace levee {
namespace {

constexpr absl::Duration kNoDeadline = absl::InfiniteDuration();

RateLimitPolicy PerSecond(double rate, int burst, absl::Duration max_wait = kNoWait) {
  return {.name = "limit", .per_second = rate, .burst = burst, .max_wait = max_wait};
}

RateLimitPolicy PerTenant(double rate, int burst, int max_keys) {
  RateLimitPolicy policy = PerSecond(rate, burst);
  policy.key = {RateLimitKey::Header("x-tenant")};
  policy.max_keys = max_keys;
  return policy;
}

RateLimitPolicy Adaptive(double rate) {
  RateLimitPolicy policy = PerSecond(rate, 1);
  policy.adaptive = true;
  return policy;
}

int Drain(RateLimiter& limit, const LimitKey& key, Instant now) {
  int taken = 0;
  while (limit.Take(key, now, kNoWait).granted) ++taken;
  return taken;
}

TEST(RateLimiter, WithoutKeyAllCallsShareTheLimit) {
  RateLimiter limit(PerSecond(10, 3));
  EXPECT_TRUE(limit.Take(KeyOf("a"), At(0), kNoWait).granted);
  EXPECT_EQ(Drain(limit, KeyOf("b"), At(0)), 2);
}

TEST(RateLimiter, WithKeyEachHasItsOwn) {
  RateLimiter limit(PerTenant(10, 3, 100));
  EXPECT_EQ(Drain(limit, KeyOf("a"), At(0)), 3);
  EXPECT_EQ(Drain(limit, KeyOf("b"), At(0)), 3);
}

TEST(RateLimiter, A77_AFullKeyTableNeverResetsABusyKey) {
  RateLimiter limit(PerTenant(1, 3, 1));
  EXPECT_EQ(Drain(limit, KeyOf("busy"), At(0)), 3);
  for (int i = 0; i < 100; ++i) limit.Take(KeyOf(std::to_string(i)), At(1), kNoWait);
  EXPECT_EQ(Drain(limit, KeyOf("busy"), At(1)), 1);
}

TEST(RateLimiter, CheckTakesNothing) {
  RateLimiter limit(PerSecond(10, 1));
  EXPECT_TRUE(limit.Check({}, At(0), kNoWait).granted);
  EXPECT_EQ(Drain(limit, {}, At(0)), 1);
  EXPECT_FALSE(limit.Check({}, At(0), kNoWait).granted);
}

TEST(RateLimiter, AReturnedPermitCanBeTakenAgain) {
  RateLimiter limit(PerSecond(10, 1));
  limit.Return({}, limit.Take({}, At(0), kNoWait));
  EXPECT_EQ(Drain(limit, {}, At(0)), 1);
}

TEST(RateLimiter, OverloadLowersAnAdaptiveLimit) {
  RateLimiter limit(Adaptive(100));
  limit.Take({}, At(10), kNoWait);  // 2 per second in its half second
  limit.OnOverloaded({}, At(10), At(10.1));
  limit.Take({}, At(10.1), kNoWait);
  EXPECT_NEAR(absl::ToDoubleSeconds(limit.Take({}, At(10.1), kNoWait).wait), 1 / 1.4, 1e-6);
}

TEST(RateLimiter, OverloadLowersOnlyTheKeyThatMetIt) {
  RateLimitPolicy policy = PerTenant(100, 1, 10);
  policy.adaptive = true;
  RateLimiter limit(policy);
  for (const char* key : {"a", "b"}) limit.Take(KeyOf(key), At(10), kNoWait);
  limit.OnOverloaded(KeyOf("a"), At(10), At(10.1));
  EXPECT_EQ(Drain(limit, KeyOf("a"), At(10.1)), 1);
  EXPECT_EQ(Drain(limit, KeyOf("b"), At(10.1)), 1);
  EXPECT_EQ(Drain(limit, KeyOf("a"), At(10.11)), 0);
  EXPECT_EQ(Drain(limit, KeyOf("b"), At(10.11)), 1);
}

TEST(RateLimiter, OverloadDoesNothingToOtherLimits) {
  RateLimiter limit(PerSecond(100, 1));
  limit.Take({}, At(10), kNoWait);
  limit.OnOverloaded({}, At(10), At(10));
  EXPECT_EQ(limit.Take({}, At(10), kNoWait).wait, absl::Milliseconds(10));
}

TEST(RateLimiter, TheLargestAndSmallestNumbersWorkTogether) {
  RateLimiter limit(PerSecond(1.0 / 3600, 1'000'000'000, kYear));
  EXPECT_TRUE(limit.Take({}, Instant() + 20 * kYear, kYear).granted);
  RateLimiter fast(PerSecond(1e9, 1'000'000'000, kYear));
  EXPECT_TRUE(fast.Take({}, Instant() + 20 * kYear, kYear).granted);
}

// Limits of one policy, which calls without keys ask.
class AdmitCallTest : public testing::Test {
 protected:
  void Add(const RateLimitPolicy& policy) {
    owned_.push_back(std::make_unique<RateLimiter>(policy));
    limits_.push_back(owned_.back().get());
    keys_.emplace_back();
  }

  RateAdmission Admit(Instant now, absl::Duration time_left = kNoDeadline) {
    return AdmitCall(limits_, keys_, now, time_left);
  }

  std::vector<std::unique_ptr<RateLimiter>> owned_;
  std::vector<RateLimiter*> limits_;
  std::vector<LimitKey> keys_;
};

TEST_F(AdmitCallTest, WithoutLimitsEveryCallIsAdmitted) {
  const RateAdmission admission = Admit(At(0));
  EXPECT_EQ(admission.refused_by, RateAdmission::kNone);
  EXPECT_EQ(admission.delayed_by, RateAdmission::kNone);
  EXPECT_EQ(admission.wait, kNoWait);
}

TEST_F(AdmitCallTest, A76_ARefusalTellsWhichLimitAndTheTimeToItsNextPermit) {
  Add(PerSecond(10, 5));
  Add(PerSecond(2, 1));
  EXPECT_EQ(Admit(At(0)).refused_by, RateAdmission::kNone);
  const RateAdmission refused = Admit(At(0.2));
  EXPECT_EQ(refused.refused_by, 1);
  EXPECT_EQ(refused.wait, absl::Milliseconds(300));
  EXPECT_EQ(refused.delayed_by, RateAdmission::kNone);
}

TEST_F(AdmitCallTest, TheFirstLimitThatRefusesIsNamed) {
  Add(PerSecond(10, 1));
  Add(PerSecond(10, 1));
  Admit(At(0));
  EXPECT_EQ(Admit(At(0)).refused_by, 0);
}

TEST_F(AdmitCallTest, ARefusedCallTakesNothingFromAnyLimit) {
  Add(PerSecond(1, 3));
  Add(PerSecond(1, 1));
  Add(PerSecond(1, 3));
  EXPECT_EQ(Admit(At(0)).refused_by, RateAdmission::kNone);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Admit(At(0)).refused_by, 1);
  EXPECT_EQ(Drain(*limits_[0], {}, At(0)), 2);
  EXPECT_EQ(Drain(*limits_[2], {}, At(0)), 2);
}

TEST_F(AdmitCallTest, TheLongestWaitCounts) {
  Add(PerSecond(10, 1, absl::Seconds(5)));
  Add(PerSecond(2, 1, absl::Seconds(5)));
  Add(PerSecond(4, 1, absl::Seconds(5)));
  Admit(At(0));
  const RateAdmission delayed = Admit(At(0));
  EXPECT_EQ(delayed.refused_by, RateAdmission::kNone);
  EXPECT_EQ(delayed.delayed_by, 1);
  EXPECT_EQ(delayed.wait, absl::Milliseconds(500));
}

TEST_F(AdmitCallTest, EachLimitHasItsOwnMaxWait) {
  Add(PerSecond(1, 1, absl::Seconds(5)));
  Add(PerSecond(10, 1, absl::Milliseconds(99)));
  Add(PerSecond(10, 1, absl::Seconds(5)));
  Admit(At(0));
  const RateAdmission refused = Admit(At(0));
  EXPECT_EQ(refused.refused_by, 1);
  EXPECT_EQ(refused.delayed_by, RateAdmission::kNone);
  EXPECT_EQ(refused.wait, absl::Milliseconds(100));
}

// The same limit twice stands for one whose last permit another worker takes in between.
TEST_F(AdmitCallTest, WhatWasTakenBeforeALostRaceIsGivenBack) {
  Add(PerSecond(1, 1));
  limits_.push_back(limits_[0]);
  keys_.emplace_back();
  EXPECT_EQ(Admit(At(0)).refused_by, 0);
  EXPECT_EQ(Drain(*limits_[0], {}, At(0)), 1);
}

TEST_F(AdmitCallTest, NoPermitIsTakenThatIsDueAtTheDeadlineOrLater) {
  Add(PerSecond(1, 1, absl::Seconds(5)));
  Admit(At(0));
  const RateAdmission refused = Admit(At(0), absl::Seconds(1));
  EXPECT_EQ(refused.refused_by, 0);
  EXPECT_EQ(refused.wait, absl::Seconds(1));
  const RateAdmission admitted = Admit(At(0), absl::Seconds(1) + absl::Nanoseconds(1));
  EXPECT_EQ(admitted.delayed_by, 0);
  EXPECT_EQ(admitted.wait, absl::Seconds(1));
}

TEST_F(AdmitCallTest, ACallWithoutTimeTakesNothing) {
  Add(PerSecond(1, 1));
  EXPECT_EQ(Admit(At(0), kNoWait).refused_by, 0);
  EXPECT_EQ(Drain(*limits_[0], {}, At(0)), 1);
}

TEST_F(AdmitCallTest, A75_CallsBecomeDueInTheOrderInWhichTheyCame) {
  Add(PerSecond(10, 1, absl::Seconds(10)));
  Add(PerSecond(7, 2, absl::Seconds(10)));
  Instant last;
  for (int i = 0; i < 40; ++i) {
    const Instant now = At(0.01 * i);
    const RateAdmission admission = Admit(now);
    ASSERT_EQ(admission.refused_by, RateAdmission::kNone);
    ASSERT_GE(now + admission.wait, last);
    last = now + admission.wait;
  }
}

TEST_F(AdmitCallTest, AFullKeyTableIsReported) {
  Add(PerTenant(1, 5, 1));
  Add(PerSecond(1, 5));
  keys_[0] = KeyOf("a");
  EXPECT_FALSE(Admit(At(0)).shared_bucket);
  keys_[0] = KeyOf("b");
  EXPECT_TRUE(Admit(At(0)).shared_bucket);
}

}  // namespace
}  // namespace levee
