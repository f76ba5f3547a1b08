// SPDX-License-Identifier: Apache-2.0
// The row of delays: where it starts, grows, stops and starts again.
#include "policy/backoff.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using ::testing::ElementsAre;

BackoffPolicy Policy(Jitter jitter) {
  BackoffPolicy policy;
  policy.initial = absl::Milliseconds(100);
  policy.max = absl::Seconds(1);
  policy.jitter = jitter;
  return policy;
}

BackoffPolicy Schedule(std::vector<absl::Duration> delays) {
  return {.kind = BackoffPolicy::Kind::kSchedule, .schedule = std::move(delays)};
}

BackoffPolicy Slots(absl::Duration slot, int truncate) {
  return {.kind = BackoffPolicy::Kind::kSlot, .slot = slot, .truncate = truncate};
}

std::vector<absl::Duration> Draw(const BackoffPolicy& policy, int n, uint64_t seed = 1) {
  Random random(seed);
  Backoff backoff;
  std::vector<absl::Duration> delays;
  for (int i = 0; i < n; ++i) delays.push_back(backoff.Next(policy, random));
  return delays;
}

TEST(Backoff, WithoutJitterDelaysDoubleUpToMax) {
  EXPECT_THAT(Draw(Policy(Jitter::kNone), 6),
              ElementsAre(absl::Milliseconds(100), absl::Milliseconds(200), absl::Milliseconds(400),
                          absl::Milliseconds(800), absl::Seconds(1), absl::Seconds(1)));
}

TEST(Backoff, MultiplierNeedNotBeWhole) {
  BackoffPolicy policy = Policy(Jitter::kNone);
  policy.multiplier = 1.5;
  EXPECT_THAT(Draw(policy, 4), ElementsAre(absl::Milliseconds(100), absl::Milliseconds(150),
                                           absl::Milliseconds(225), absl::Microseconds(337'500)));
}

TEST(Backoff, MultiplierOfOneStaysAtInitial) {
  BackoffPolicy policy = Policy(Jitter::kNone);
  policy.multiplier = 1;
  EXPECT_EQ(Draw(policy, 50).back(), absl::Milliseconds(100));
}

TEST(Backoff, NominalDelaySaturatesAtMaxHoweverManyRetries) {
  for (Jitter jitter : {Jitter::kNone, Jitter::kFull, Jitter::kEqual, Jitter::kFactor, Jitter::kAdd,
                        Jitter::kDecorrelated}) {
    BackoffPolicy policy = Policy(jitter);
    policy.multiplier = 1e6;
    policy.factor = 0.2;
    policy.add = absl::Seconds(1);
    for (absl::Duration delay : Draw(policy, 5000)) {
      ASSERT_GE(delay, absl::ZeroDuration());
      ASSERT_LE(delay, absl::Milliseconds(jitter == Jitter::kFactor ? 1200 : 1000));
    }
  }
}

TEST(Backoff, WithoutMaxDelaysStayFinite) {
  for (Jitter jitter : {Jitter::kNone, Jitter::kFull, Jitter::kEqual, Jitter::kFactor, Jitter::kAdd,
                        Jitter::kDecorrelated}) {
    BackoffPolicy policy = Policy(jitter);
    policy.max = absl::InfiniteDuration();
    policy.factor = 1;
    policy.add = absl::Seconds(1);
    for (absl::Duration delay : Draw(policy, 3000)) {
      ASSERT_GE(delay, absl::ZeroDuration());
      ASSERT_LE(delay, absl::Hours(24 * 365 * 2));
    }
  }
}

TEST(Backoff, A35_RestartBeginsAgainAtInitial) {
  const BackoffPolicy policy = Policy(Jitter::kNone);
  Random random(1);
  Backoff backoff;
  for (int i = 0; i < 4; ++i) backoff.Next(policy, random);
  backoff.Restart();
  EXPECT_EQ(backoff.Next(policy, random), absl::Milliseconds(100));
  EXPECT_EQ(backoff.Next(policy, random), absl::Milliseconds(200));
}

TEST(Backoff, RestartForgetsThePreviousDecorrelatedDelay) {
  const BackoffPolicy policy = Policy(Jitter::kDecorrelated);
  Random random(2);
  Backoff backoff;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 5; ++k) backoff.Next(policy, random);
    backoff.Restart();
    ASSERT_LT(backoff.Next(policy, random), absl::Milliseconds(300));
    backoff.Restart();
  }
}

TEST(Backoff, EveryDelayIsOneOfItsLaw) {
  BackoffPolicy capped = Policy(Jitter::kFull);
  capped.cap_after_jitter = true;
  BackoffPolicy added = Policy(Jitter::kAdd);
  added.add = absl::Milliseconds(70);
  for (const BackoffPolicy& policy :
       {Policy(Jitter::kNone), Policy(Jitter::kEqual), Policy(Jitter::kDecorrelated), capped, added,
        Slots(absl::Microseconds(700), 4), Schedule({absl::Seconds(1), absl::Seconds(4)})}) {
    absl::Duration previous;
    int n = 0;
    for (const absl::Duration delay : Draw(policy, 200)) {
      const DelayLaw law = LawOfDelay(policy, ++n, previous);
      const absl::Duration width = law.step * static_cast<int64_t>(law.steps);
      ASSERT_GE(delay, std::min(law.least, law.most)) << n;
      ASSERT_LE(delay, std::min(law.least + width + law.tick, law.most)) << n;
      ASSERT_EQ((delay - law.least) % law.tick, absl::ZeroDuration()) << n;
      previous = delay;
    }
  }
}

TEST(Backoff, AddNeverExceedsMax) {
  BackoffPolicy policy = Policy(Jitter::kAdd);
  policy.add = absl::Seconds(5);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ASSERT_LE(Draw(policy, 1, seed)[0], absl::Seconds(1));
  }
}

TEST(Backoff, A32_WithoutJitterMaxBoundsOnEitherSide) {
  BackoffPolicy policy = Policy(Jitter::kNone);
  policy.cap_after_jitter = true;
  EXPECT_THAT(Draw(policy, 5),
              ElementsAre(absl::Milliseconds(100), absl::Milliseconds(200), absl::Milliseconds(400),
                          absl::Milliseconds(800), absl::Seconds(1)));
}

TEST(Backoff, A32_MaxBehindTheJitterIsNeverExceeded) {
  for (Jitter jitter : {Jitter::kNone, Jitter::kFull, Jitter::kEqual, Jitter::kFactor, Jitter::kAdd,
                        Jitter::kDecorrelated}) {
    BackoffPolicy policy = Policy(jitter);
    policy.cap_after_jitter = true;
    policy.factor = 1;
    policy.add = absl::Seconds(1);
    for (absl::Duration delay : Draw(policy, 3000)) ASSERT_LE(delay, absl::Seconds(1));
  }
}

TEST(Backoff, A32_AScheduleIsFollowedAndItsLastDelayRepeats) {
  EXPECT_THAT(Draw(Schedule({absl::Seconds(1), absl::Seconds(4), absl::Seconds(2)}), 5),
              ElementsAre(absl::Seconds(1), absl::Seconds(4), absl::Seconds(2), absl::Seconds(2),
                          absl::Seconds(2)));
}

TEST(Backoff, A32_AConstantIsAScheduleOfOne) {
  EXPECT_THAT(Draw(Schedule({absl::Seconds(10)}), 3),
              ElementsAre(absl::Seconds(10), absl::Seconds(10), absl::Seconds(10)));
}

TEST(Backoff, A32_SlotsAreWholeMilliseconds) {
  for (absl::Duration delay : Draw(Slots(absl::Nanoseconds(51'200), 10), 3000)) {
    ASSERT_EQ(delay % absl::Milliseconds(1), absl::ZeroDuration());
    ASSERT_LE(delay, absl::Milliseconds(53));  // 1023 x 51.2 us = 52.4 ms
  }
}

TEST(Backoff, A32_SlotsStayFiniteAtTheirWidest) {
  for (absl::Duration delay : Draw(Slots(absl::Hours(24), 30), 3000)) {
    ASSERT_LE(delay, absl::Hours(24 * 365));
  }
}

TEST(Backoff, RetriesAreCountedThroughAChangeOfPolicy) {
  Random random(1);
  Backoff backoff;
  EXPECT_EQ(backoff.Next(Policy(Jitter::kNone), random), absl::Milliseconds(100));
  EXPECT_EQ(backoff.Next(Schedule({absl::Seconds(1), absl::Seconds(5)}), random), absl::Seconds(5));
  EXPECT_EQ(backoff.Next(Policy(Jitter::kNone), random), absl::Milliseconds(400));
}

TEST(Backoff, DecorrelatedGoesOnFromTheDelayOfAnotherPolicy) {
  BackoffPolicy policy = Policy(Jitter::kDecorrelated);
  policy.max = absl::Hours(1);
  absl::Duration longest = absl::ZeroDuration();
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    Backoff backoff;
    backoff.Next(Schedule({absl::Seconds(20)}), random);
    const absl::Duration delay = backoff.Next(policy, random);
    ASSERT_GE(delay, absl::Milliseconds(100));
    ASSERT_LT(delay, absl::Seconds(60));
    longest = std::max(longest, delay);
  }
  EXPECT_GT(longest, absl::Seconds(50));
}

TEST(Backoff, OneSeedGivesTheSameDelaysAgain) {
  const BackoffPolicy policy = Policy(Jitter::kFull);
  EXPECT_EQ(Draw(policy, 20, 42), Draw(policy, 20, 42));
  EXPECT_NE(Draw(policy, 20, 42), Draw(policy, 20, 43));
}

}  // namespace
}  // namespace levee
