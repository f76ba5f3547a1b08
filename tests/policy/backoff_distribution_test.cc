// SPDX-License-Identifier: Apache-2.0
// A32 for each jitter, with `max` before and behind it, and for slots: the n-th delay has the
// distribution of the table in the policy's documentation. Seeds are fixed, so a failure replays.
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "policy/backoff.h"
#include "policy/kolmogorov_smirnov.h"
#include "policy/times.h"

namespace levee {
namespace {

BackoffPolicy JitteredPolicy(Jitter jitter) {
  BackoffPolicy policy;
  policy.initial = Ms(100);
  policy.max = absl::Seconds(1);
  policy.jitter = jitter;
  return policy;
}

// min(nominal, max) of retries 1 to 5 of that policy.
const std::vector<absl::Duration> kNominal = {Ms(100), Ms(200), Ms(400), Ms(800), Ms(1000)};

// The same with `max` 250 ms behind the jitter, and the nominal delays that it leaves alone.
BackoffPolicy CappedAfter(Jitter jitter) {
  BackoffPolicy policy = JitteredPolicy(jitter);
  policy.max = Ms(250);
  policy.cap_after_jitter = true;
  return policy;
}
const std::vector<absl::Duration> kUncapped = {Ms(100), Ms(200), Ms(400), Ms(800), Ms(1600)};

TEST(BackoffDistribution, A32_FullIsUniformFromZeroToNominal) {
  for (int n = 1; n <= 5; ++n) {
    ExpectNth(JitteredPolicy(Jitter::kFull), n, Uniform(Ms(0), kNominal[n - 1]));
  }
}

TEST(BackoffDistribution, A32_FullWithMaxBehindItIsUniformToNominalAndCut) {
  for (int n = 1; n <= 5; ++n) {
    ExpectNth(CappedAfter(Jitter::kFull), n, Uniform(Ms(0), kUncapped[n - 1], Ms(250)));
  }
}

TEST(BackoffDistribution, A32_EqualIsUniformOverTheUpperHalf) {
  for (int n = 1; n <= 5; ++n) {
    ExpectNth(JitteredPolicy(Jitter::kEqual), n, Uniform(kNominal[n - 1] / 2, kNominal[n - 1]));
  }
}

TEST(BackoffDistribution, A32_EqualWithMaxBehindItIsUniformOverTheUpperHalfAndCut) {
  for (int n = 1; n <= 5; ++n) {
    const absl::Duration nominal = kUncapped[n - 1];
    ExpectNth(CappedAfter(Jitter::kEqual), n, Uniform(nominal / 2, nominal, Ms(250)));
  }
}

TEST(BackoffDistribution, A32_FactorIsUniformAroundNominal) {
  for (double factor : {0.2, 0.5, 1.0}) {
    BackoffPolicy policy = JitteredPolicy(Jitter::kFactor);
    policy.factor = factor;
    for (int n = 1; n <= 5; ++n) {
      const absl::Duration nominal = kNominal[n - 1];
      ExpectNth(policy, n, Uniform(nominal * (1 - factor), nominal * (1 + factor)));
    }
  }
}

TEST(BackoffDistribution, A32_FactorWithMaxBehindItIsUniformAroundNominalAndCut) {
  BackoffPolicy policy = CappedAfter(Jitter::kFactor);
  policy.factor = 0.5;
  for (int n = 1; n <= 5; ++n) {
    const absl::Duration nominal = kUncapped[n - 1];
    ExpectNth(policy, n, Uniform(nominal * 0.5, nominal * 1.5, Ms(250)));
  }
}

// It is cut at max wherever max stands.
TEST(BackoffDistribution, A32_AddIsUniformAboveNominalAndCutAtMax) {
  for (bool cap_after_jitter : {false, true}) {
    BackoffPolicy policy = JitteredPolicy(Jitter::kAdd);
    policy.add = Ms(400);
    policy.cap_after_jitter = cap_after_jitter;
    for (int n = 1; n <= 5; ++n) {
      const absl::Duration nominal = kNominal[n - 1];
      ExpectNth(policy, n, Uniform(nominal, nominal + policy.add, policy.max));
    }
  }
}

TEST(BackoffDistribution, A32_DecorrelatedStartsBetweenInitialAndThreeTimesInitial) {
  ExpectNth(JitteredPolicy(Jitter::kDecorrelated), 1, Uniform(Ms(100), Ms(300)));
}

// The n-th delay depends on the one before; its place between initial and 3 x previous does not.
TEST(BackoffDistribution, A32_DecorrelatedIsUniformUpToThreeTimesThePreviousDelay) {
  BackoffPolicy policy = JitteredPolicy(Jitter::kDecorrelated);
  policy.max = absl::Hours(1000);
  for (int n = 2; n <= 5; ++n) {
    Random random(2000 + n);
    std::vector<absl::Duration> places;
    for (int i = 0; i < kDraws; ++i) {
      Backoff backoff;
      absl::Duration previous;
      for (int k = 1; k < n; ++k) previous = backoff.Next(policy, random);
      const absl::Duration above = backoff.Next(policy, random) - policy.initial;
      places.push_back(absl::Seconds(absl::FDivDuration(above, 3 * previous - policy.initial)));
    }
    EXPECT_LT(Distance(places, Uniform(Ms(0), absl::Seconds(1))), kCriticalDistance)
        << "retry " << n;
  }
}

TEST(BackoffDistribution, A32_DecorrelatedIsCutAtMax) {
  for (bool cap_after_jitter : {false, true}) {
    BackoffPolicy policy = JitteredPolicy(Jitter::kDecorrelated);
    policy.max = Ms(250);
    policy.cap_after_jitter = cap_after_jitter;
    ExpectNth(policy, 1, Uniform(Ms(100), Ms(300), Ms(250)));
  }
}

// How many of {0 .. 2^bits - 1} slots of 51.2 us take how many whole milliseconds.
std::map<absl::Duration, int> SlotsPerDelay(int bits) {
  std::map<absl::Duration, int> slots;
  for (int i = 0; i < 1 << bits; ++i) ++slots[absl::Milliseconds((i * 512 + 9'999) / 10'000)];
  return slots;
}

// Pearson's chi-square, with the value that it exceeds in one of 10^4 runs.
void ExpectSlots(const BackoffPolicy& policy, int n, int bits, double critical) {
  const std::map<absl::Duration, int> slots = SlotsPerDelay(bits);
  std::map<absl::Duration, int> drawn;
  for (absl::Duration delay : NthDelays(policy, n, 3000 + n)) ++drawn[delay];
  double statistic = 0;
  for (const auto& [delay, count] : slots) {
    const double expected = static_cast<double>(count) * kDraws / (1 << bits);
    statistic += (drawn[delay] - expected) * (drawn[delay] - expected) / expected;
  }
  EXPECT_EQ(drawn.size(), slots.size()) << "retry " << n;
  EXPECT_LT(statistic, critical) << "retry " << n;
}

TEST(BackoffDistribution, A32_SlotIsUniformOverPowersOfTwoUpToTruncate) {
  const BackoffPolicy policy = {
      .kind = BackoffPolicy::Kind::kSlot, .slot = absl::Nanoseconds(51'200), .truncate = 10};
  // Degrees of freedom: 1, 2, 52 and 52, one less than there are delays.
  ExpectSlots(policy, 1, 1, 15.2);
  ExpectSlots(policy, 5, 5, 18.5);
  ExpectSlots(policy, 10, 10, 98.9);
  ExpectSlots(policy, 13, 10, 98.9);
}

// The test can fail: another distribution is told apart.
TEST(BackoffDistribution, EqualJitterIsNotTakenForFull) {
  const auto draws = NthDelays(JitteredPolicy(Jitter::kEqual), 1, 1);
  EXPECT_GT(Distance(draws, Uniform(Ms(0), Ms(100))), kCriticalDistance);
  EXPECT_GT(Distance(draws, Uniform(absl::Microseconds(47'500), Ms(100))), kCriticalDistance);
}

TEST(BackoffDistribution, AMissingOrMisplacedAtomIsSeen) {
  const auto cut = NthDelays(CappedAfter(Jitter::kFull), 3, 1);
  EXPECT_GT(Distance(cut, Uniform(Ms(0), Ms(400))), kCriticalDistance);
  EXPECT_GT(Distance(cut, Uniform(Ms(0), Ms(400), Ms(249))), kCriticalDistance);
  EXPECT_GT(Distance(cut, Uniform(Ms(0), Ms(400), Ms(251))), kCriticalDistance);
  const auto whole = NthDelays(JitteredPolicy(Jitter::kFull), 3, 1);
  EXPECT_GT(Distance(whole, Uniform(Ms(0), Ms(400), Ms(250))), kCriticalDistance);
}

}  // namespace
}  // namespace levee
