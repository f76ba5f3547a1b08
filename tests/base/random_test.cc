// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

// Computed with an independent implementation of splitmix64 and xoshiro256**.
TEST(Random, SeedsReplayTheReferenceSequence) {
  Random zero(0);
  EXPECT_EQ(zero.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(zero.Next(), 0xbf6e1f784956452au);
  EXPECT_EQ(zero.Next(), 0x1a5f849d4933e6e0u);
  Random forty_two(42);
  EXPECT_EQ(forty_two.Next(), 0x15780b2e0c2ec716u);
  EXPECT_EQ(forty_two.Next(), 0x6104d9866d113a7eu);
  EXPECT_EQ(forty_two.Next(), 0xae17533239e499a1u);
}

TEST(Random, UniformLiesInTheHalfOpenUnitInterval) {
  Random random(1);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.Uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

// Kolmogorov-Smirnov at p = 0.001.
TEST(Random, UniformIsUniform) {
  Random random(2);
  std::vector<double> values(10'000);
  for (double& value : values) value = random.Uniform();
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    distance = std::max(distance, std::abs(values[i] - (i + 0.5) / 10'000));
  }
  EXPECT_LT(distance, 1.95 / 100);
}

TEST(Random, BelowStaysBelowItsBound) {
  Random random(3);
  EXPECT_EQ(random.Below(1), 0u);
  for (uint64_t bound : {2ull, 3ull, 1000ull, 1ull << 63, ~0ull}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.Below(bound), bound);
  }
}

TEST(Random, BelowReachesEveryValueEquallyOften) {
  Random random(4);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen[random.Below(7)];
  // Chi-squared with 6 degrees of freedom, p = 0.001.
  double chi_squared = 0;
  for (int count : seen) chi_squared += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  EXPECT_LT(chi_squared, 22.46);
}

// With a modulo alone, values below 2^62 would come twice as often as the rest.
TEST(Random, BelowHasNoModuloBias) {
  Random random(5);
  const uint64_t bound = 3ull << 62;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += random.Below(bound) < (1ull << 62) ? 1 : 0;
  EXPECT_NEAR(low, 10'000, 300);
}

TEST(RandomDeathTest, BelowZeroIsABrokenInvariant) {
  Random random(6);
  EXPECT_DEATH(random.Below(0), "invariant broken");
}

}  // namespace
}  // namespace levee
