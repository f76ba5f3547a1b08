// SPDX-License-Identifier: Apache-2.0
// The adaptive rate: how far an overload lowers it, and its way back up.
#include "policy/cubic_rate.h"

#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

void RecordPermits(CubicRate& rate, int n, Instant now) {
  for (int i = 0; i < n; ++i) rate.RecordPermit(now);
}

// Overloaded at 10 s while it grants 10 permits per second.
CubicRate LoweredFromTen(double configured) {
  CubicRate rate(configured);
  RecordPermits(rate, 5, At(10));
  rate.OnOverloaded(At(9), At(10));
  return rate;
}

TEST(CubicRate, IsTheConfiguredOneUntilTheFirstOverload) {
  CubicRate rate(1000);
  RecordPermits(rate, 3, At(1));
  EXPECT_EQ(rate.RateAt(At(0)), 1000);
  EXPECT_EQ(rate.RateAt(At(1e9)), 1000);
  EXPECT_FALSE(rate.LoweredAt(At(1)));
}

TEST(CubicRate, OverloadLowersItToSevenTenthsOfTheMeasuredRate) {
  const CubicRate rate = LoweredFromTen(1000);
  EXPECT_NEAR(rate.RateAt(At(10)), 7, 1e-9);
  EXPECT_TRUE(rate.LoweredAt(At(10)));
}

TEST(CubicRate, OverloadLowersItToSevenTenthsOfTheCurrentRateIfMoreIsMeasured) {
  CubicRate rate(100);
  RecordPermits(rate, 5000, At(10));  // a burst
  rate.OnOverloaded(At(9), At(10));
  EXPECT_NEAR(rate.RateAt(At(10)), 70, 1e-9);
}

// K = 0.5 s, C = 10 x 0.3 / K^3 = 24.
TEST(CubicRate, ClimbsBackAlongTheCubic) {
  const CubicRate rate = LoweredFromTen(1000);
  EXPECT_NEAR(rate.RateAt(At(10.25)), 9.625, 1e-6);    // K / 2: 10 - 3 / 8
  EXPECT_NEAR(rate.RateAt(At(10.5)), 10, 1e-6);        // K
  EXPECT_NEAR(rate.RateAt(At(11)), 13, 1e-6);          // 2 K: 10 + 3
  EXPECT_NEAR(rate.RateAt(At(12.5)), 10 + 192, 1e-6);  // K + 2
}

TEST(CubicRate, IsBackAtItsHeightAfterHalfASecondHoweverHighItWas) {
  for (const double height : {10.0, 600.0, 1e6}) {
    CubicRate rate(height);
    RecordPermits(rate, static_cast<int>(height), At(10));
    rate.OnOverloaded(At(9), At(10));
    EXPECT_NEAR(rate.RateAt(At(10)), 0.7 * height, 1e-6);
    EXPECT_NEAR(rate.RateAt(At(10.5)), height, 1e-6);
  }
}

TEST(CubicRate, EndsAtTheConfiguredRate) {
  const CubicRate rate = LoweredFromTen(20);
  EXPECT_NEAR(rate.RateAt(At(11.246900793)), 20, 1e-6);  // K + cbrt(10 / 24)
  EXPECT_EQ(rate.RateAt(At(11.25)), 20);
  EXPECT_FALSE(rate.LoweredAt(At(11.25)));
  EXPECT_EQ(rate.RateAt(At(1e6)), 20);
}

TEST(CubicRate, OneFlightOfAttemptsLowersItOnce) {
  CubicRate rate = LoweredFromTen(1000);
  RecordPermits(rate, 5000, At(10.1));
  for (const double start : {9.0, 9.9, 10.0}) rate.OnOverloaded(At(start), At(10.2));
  EXPECT_NEAR(rate.RateAt(At(10)), 7, 1e-9);
  const double current = rate.RateAt(At(10.2));
  rate.OnOverloaded(At(10.1), At(10.2));
  EXPECT_NEAR(rate.RateAt(At(10.2)), 0.7 * current, 1e-9);
}

TEST(CubicRate, MeasuresHalfSecondsSmoothed) {
  CubicRate rate(1e6);
  RecordPermits(rate, 100, At(0.2));  // 200/s: 0.8 x 200 = 160
  RecordPermits(rate, 50, At(0.7));   // 100/s: 0.8 x 100 + 0.2 x 160 = 112
  rate.OnOverloaded(At(0.9), At(1.1));
  EXPECT_NEAR(rate.RateAt(At(1.1)), 0.7 * 112, 1e-9);
}

TEST(CubicRate, AQuietTimeLowersTheMeasuredRate) {
  CubicRate rate(1e6);
  RecordPermits(rate, 100, At(0.2));
  rate.OnOverloaded(At(0.3), At(10));  // 100 in 10 s: 0.8 x 10
  EXPECT_NEAR(rate.RateAt(At(10)), 0.7 * 8, 1e-9);
}

TEST(CubicRate, ARushCountsBeforeItsHalfSecondIsOver) {
  CubicRate rate(1e6);
  RecordPermits(rate, 1, At(0.2));
  RecordPermits(rate, 100, At(60.2));
  rate.OnOverloaded(At(60.2), At(60.3));
  EXPECT_NEAR(rate.RateAt(At(60.3)), 0.7 * 200, 1e-9);
}

TEST(CubicRate, NeverFallsBelowHalfAPermitPerSecond) {
  CubicRate rate(1000);
  for (int second = 1; second <= 20; ++second) rate.OnOverloaded(At(second - 0.1), At(second));
  EXPECT_EQ(rate.RateAt(At(20)), 0.5);
  EXPECT_GT(rate.RateAt(At(22)), 3);
}

TEST(CubicRate, NeverRisesAboveASmallConfiguredRate) {
  CubicRate rate(0.1);
  rate.OnOverloaded(At(1), At(2));
  EXPECT_EQ(rate.RateAt(At(2)), 0.1);
}

TEST(CubicRate, ANowBeforeTheDecreaseSeesTheDecrease) {
  EXPECT_NEAR(LoweredFromTen(1000).RateAt(At(9.5)), 7, 1e-9);
}

}  // namespace
}  // namespace levee
