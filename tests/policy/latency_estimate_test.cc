// SPDX-License-Identifier: Apache-2.0
// Quantiles of recent latencies: their precision, when they are known, and when they are forgotten.
#include "policy/latency_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

constexpr Instant kStart = Instant::FromNanos(1'000'000'000'000);

class LatencyEstimateTest : public ::testing::Test {
 protected:
  void Record(absl::Duration latency, int times = 1) {
    for (int i = 0; i < times; ++i) estimate.Record(latency, now);
  }

  // The quantile is known, not below `latency` and at most an eighth above it.
  void ExpectNear(double q, absl::Duration latency) {
    const auto quantile = estimate.Quantile(q, now);
    ASSERT_TRUE(quantile.has_value());
    EXPECT_GE(*quantile, latency);
    EXPECT_LE(*quantile, latency * 1.125);
  }

  LatencyEstimate estimate;
  Instant now = kStart;
};

TEST_F(LatencyEstimateTest, NothingIsKnownAtFirst) {
  EXPECT_EQ(estimate.Quantile(0.5, now), std::nullopt);
}

TEST_F(LatencyEstimateTest, TheMedianIsKnownFromEightAttemptsOn) {
  Record(Ms(10), 7);
  EXPECT_EQ(estimate.Quantile(0.5, now), std::nullopt);
  Record(Ms(10));
  ExpectNear(0.5, Ms(10));
}

TEST_F(LatencyEstimateTest, AHighQuantileNeedsAttemptsAboveIt) {
  Record(Ms(10), 9);
  EXPECT_EQ(estimate.Quantile(0.9, now), std::nullopt);
  Record(Ms(10));
  ExpectNear(0.9, Ms(10));
  EXPECT_EQ(estimate.Quantile(0.99, now), std::nullopt);
  Record(Ms(10), 90);
  ExpectNear(0.99, Ms(10));
}

TEST_F(LatencyEstimateTest, TheQuantileIsWhatAShareDidNotExceed) {
  for (int i = 1; i <= 100; ++i) Record(Ms(i * i));
  ExpectNear(0.01, Ms(1));
  ExpectNear(0.5, Ms(50 * 50));
  ExpectNear(0.9, Ms(90 * 90));
  ExpectNear(0.99, Ms(99 * 99));
}

TEST_F(LatencyEstimateTest, QuantilesAreWithinAnEighthFromMicrosecondsToHours) {
  for (double seconds = 1.1e-6; seconds < 4 * 3600; seconds *= 1.013) {
    LatencyEstimate fresh;
    for (int i = 0; i < 8; ++i) fresh.Record(absl::Seconds(seconds), now);
    const absl::Duration quantile = *fresh.Quantile(0.5, now);
    ASSERT_GE(quantile, absl::Seconds(seconds));
    ASSERT_LE(quantile, absl::Seconds(seconds) * 1.125);
  }
}

TEST_F(LatencyEstimateTest, ExactPowersOfTwoAreInTheBucketTheyBegin) {
  Record(absl::Nanoseconds(1 << 20), 8);
  EXPECT_EQ(estimate.Quantile(0.5, now), absl::Nanoseconds((1 << 20) + (1 << 17)));
}

TEST_F(LatencyEstimateTest, OneNanosecondLessIsInTheBucketBelow) {
  Record(absl::Nanoseconds((1 << 20) - 1), 8);
  EXPECT_EQ(estimate.Quantile(0.5, now), absl::Nanoseconds(1 << 20));
}

TEST_F(LatencyEstimateTest, ShorterThanAMicrosecondCountsAsOne) {
  for (absl::Duration latency :
       {absl::Nanoseconds(1), absl::ZeroDuration(), -absl::Seconds(1), -absl::InfiniteDuration()}) {
    LatencyEstimate fresh;
    for (int i = 0; i < 8; ++i) fresh.Record(latency, now);
    EXPECT_EQ(fresh.Quantile(0.5, now), absl::Nanoseconds(1152));
  }
}

TEST_F(LatencyEstimateTest, LongerThanTheLastBucketCountsAsThat) {
  for (absl::Duration latency :
       {absl::Hours(5), absl::Hours(10'000'000), absl::InfiniteDuration()}) {
    LatencyEstimate fresh;
    for (int i = 0; i < 8; ++i) fresh.Record(latency, now);
    EXPECT_EQ(fresh.Quantile(0.5, now), absl::Nanoseconds(int64_t{1} << 44));
  }
}

TEST_F(LatencyEstimateTest, RandomLatenciesGiveTheirQuantiles) {
  Random random(1);
  std::vector<absl::Duration> latencies;
  for (int i = 0; i < 5'000; ++i) {
    latencies.push_back(absl::Microseconds(std::exp(random.Uniform() * 12)));
    Record(latencies.back());
  }
  std::sort(latencies.begin(), latencies.end());
  ExpectNear(0.5, latencies[2'499]);
  ExpectNear(0.95, latencies[4'749]);
  ExpectNear(0.99, latencies[4'949]);
}

TEST_F(LatencyEstimateTest, AttemptsOfTheLastWindowStillCount) {
  Record(Ms(10), 8);
  now = kStart + absl::Seconds(59);
  ExpectNear(0.5, Ms(10));
}

TEST_F(LatencyEstimateTest, OlderOnesAreForgotten) {
  Record(Ms(10), 8);
  now = kStart + absl::Seconds(60);
  EXPECT_EQ(estimate.Quantile(0.5, now), std::nullopt);
}

TEST_F(LatencyEstimateTest, AWindowThatIsOpenedLateEndsOnTime) {
  Record(Ms(10), 8);
  now = kStart + absl::Seconds(59);
  Record(Ms(20));
  now = kStart + absl::Seconds(60);
  EXPECT_EQ(estimate.Quantile(0.5, now), std::nullopt);
}

TEST_F(LatencyEstimateTest, ThoseOfBothWindowsAreAddedUp) {
  Record(Ms(10), 4);
  now = kStart + absl::Seconds(30);
  Record(Ms(20), 4);
  ExpectNear(0.5, Ms(10));
  ExpectNear(0.6, Ms(20));
}

TEST_F(LatencyEstimateTest, WindowsFollowEachOtherWithoutAGap) {
  for (int i = 0; i < 6; ++i) {
    now = kStart + absl::Seconds(30 * i);
    Record(Ms(10 << i), 8);
    // The window before and this one.
    ExpectNear(0.5, Ms(i == 0 ? 10 : 10 << (i - 1)));
    ExpectNear(0.8, Ms(10 << i));
  }
}

TEST_F(LatencyEstimateTest, AnAnswerIsKeptForSixtyFourAttempts) {
  Record(Ms(10), 8);
  ExpectNear(0.5, Ms(10));
  Record(Ms(50), 63);
  ExpectNear(0.5, Ms(10));
  Record(Ms(50));
  ExpectNear(0.5, Ms(50));
}

TEST_F(LatencyEstimateTest, AnAnswerIsNotKeptBeyondItsWindow) {
  Record(Ms(10), 8);
  ExpectNear(0.5, Ms(10));
  now = kStart + absl::Seconds(30);
  Record(Ms(50), 20);
  ExpectNear(0.5, Ms(50));
}

TEST_F(LatencyEstimateTest, EachQuantileHasItsOwnAnswer) {
  Record(Ms(10), 90);
  Record(Ms(50), 10);
  for (int i = 0; i < 3; ++i) {
    for (double q : {0.2, 0.5, 0.7, 0.8, 0.9}) ExpectNear(q, Ms(10));
    for (double q : {0.91, 0.95, 0.99}) ExpectNear(q, Ms(50));
  }
}

}  // namespace
}  // namespace levee
