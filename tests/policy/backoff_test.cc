#include "policy/backoff.h"

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

TEST(Backoff, AddNeverExceedsMax) {
  BackoffPolicy policy = Policy(Jitter::kAdd);
  policy.add = absl::Seconds(5);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ASSERT_LE(Draw(policy, 1, seed)[0], absl::Seconds(1));
  }
}

TEST(Backoff, OneSeedGivesTheSameDelaysAgain) {
  const BackoffPolicy policy = Policy(Jitter::kFull);
  EXPECT_EQ(Draw(policy, 20, 42), Draw(policy, 20, 42));
  EXPECT_NE(Draw(policy, 20, 42), Draw(policy, 20, 43));
}

}  // namespace
}  // namespace levee
