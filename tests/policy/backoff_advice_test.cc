// SPDX-License-Identifier: Apache-2.0
// The delay after a server's advice (A40), and where the row of delays starts again (A35).
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "policy/backoff.h"
#include "policy/kolmogorov_smirnov.h"
#include "policy/times.h"

namespace levee {
namespace {

BackoffPolicy AdvisedPolicy(Jitter jitter) {
  return {
      .initial = Ms(100), .max = absl::Seconds(1), .jitter = jitter, .factor = 0.2, .add = Ms(400)};
}

// The delays of kDraws calls which are told, at their third failure, to wait 2 s.
std::vector<absl::Duration> AfterAdvice(const BackoffPolicy& policy) {
  Random random(4000);
  std::vector<absl::Duration> draws;
  for (int i = 0; i < kDraws; ++i) {
    Backoff backoff;
    for (int n = 1; n <= 2; ++n) backoff.Next(policy, random);
    draws.push_back(backoff.NextAfterAdvice(policy, Ms(2000), random));
  }
  return draws;
}

void ExpectUniform(Jitter jitter, absl::Duration low, absl::Duration high) {
  for (bool cap_after_jitter : {false, true}) {
    BackoffPolicy policy = AdvisedPolicy(jitter);
    policy.cap_after_jitter = cap_after_jitter;
    EXPECT_LT(Distance(AfterAdvice(policy), Uniform(low, high)), kCriticalDistance);
  }
}

TEST(BackoffAdvice, A40_JitterOfInitialIsAddedWhateverHappenedBefore) {
  ExpectUniform(Jitter::kFull, Ms(2000), Ms(2100));
  ExpectUniform(Jitter::kEqual, Ms(2000), Ms(2050));
  ExpectUniform(Jitter::kFactor, Ms(2000), Ms(2040));
  ExpectUniform(Jitter::kAdd, Ms(2000), Ms(2400));
  ExpectUniform(Jitter::kDecorrelated, Ms(2000), Ms(2200));
}

TEST(BackoffAdvice, A40_WithoutJitterItIsExact) {
  Random random(1);
  Backoff backoff;
  EXPECT_EQ(backoff.NextAfterAdvice(AdvisedPolicy(Jitter::kNone), Ms(2000), random), Ms(2000));
  const BackoffPolicy schedule = {.kind = BackoffPolicy::Kind::kSchedule, .schedule = {Ms(700)}};
  EXPECT_EQ(backoff.NextAfterAdvice(schedule, Ms(2000), random), Ms(2000));
}

TEST(BackoffAdvice, A40_SlotsAddTheFirstOfTheirs) {
  const BackoffPolicy policy = {
      .kind = BackoffPolicy::Kind::kSlot, .slot = absl::Nanoseconds(51'200), .truncate = 10};
  // Zero or one slot, in whole milliseconds.
  int longer = 0;
  for (absl::Duration delay : AfterAdvice(policy)) {
    ASSERT_TRUE(delay == Ms(2000) || delay == Ms(2001)) << delay;
    longer += delay == Ms(2001) ? 1 : 0;
  }
  EXPECT_NEAR(longer, kDraws / 2, 200);
}

TEST(BackoffAdvice, A35_TheNextDelayIsTheFirstAgain) {
  const BackoffPolicy policy = AdvisedPolicy(Jitter::kNone);
  Random random(1);
  Backoff backoff;
  for (int n = 1; n <= 3; ++n) backoff.Next(policy, random);
  backoff.NextAfterAdvice(policy, Ms(2000), random);
  EXPECT_EQ(backoff.Next(policy, random), Ms(100));
  EXPECT_EQ(backoff.Next(policy, random), Ms(200));
}

TEST(BackoffAdvice, A35_ASchedulesNextDelayIsItsFirstAgain) {
  const BackoffPolicy policy = {.kind = BackoffPolicy::Kind::kSchedule,
                                .schedule = {Ms(10), Ms(20), Ms(30)}};
  Random random(1);
  Backoff backoff;
  for (int n = 1; n <= 2; ++n) backoff.Next(policy, random);
  backoff.NextAfterAdvice(policy, Ms(2000), random);
  EXPECT_EQ(backoff.Next(policy, random), Ms(10));
}

TEST(BackoffAdvice, A35_DecorrelatedDoesNotGoOnFromTheAdvice) {
  const BackoffPolicy policy = AdvisedPolicy(Jitter::kDecorrelated);
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    Backoff backoff;
    backoff.Next(policy, random);
    backoff.NextAfterAdvice(policy, Ms(2000), random);
    ASSERT_LT(backoff.Next(policy, random), Ms(300));
  }
}

}  // namespace
}  // namespace levee
