// SPDX-License-Identifier: Apache-2.0
#include "telemetry/histogram.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Durations = Histogram<kDurationBounds>;
using Attempts = Histogram<kAttemptBounds>;

TEST(Histogram, AValueAtABoundBelongsToThatBound) {
  EXPECT_EQ(Durations::BucketOf(1'000'000), 0u);
  EXPECT_EQ(Durations::BucketOf(1'000'001), 1u);
  EXPECT_EQ(Durations::BucketOf(2'500'000), 1u);
  EXPECT_EQ(Durations::BucketOf(2'500'001), 2u);
  EXPECT_EQ(Durations::BucketOf(10'000'000'000), 11u);
  EXPECT_EQ(Durations::BucketOf(10'000'000'001), 12u);
}

TEST(Histogram, ExtremeValuesHaveABucket) {
  EXPECT_EQ(Durations::BucketOf(0), 0u);
  EXPECT_EQ(Durations::BucketOf(std::numeric_limits<int64_t>::max()), 12u);
}

// The lookup starts from the highest bit; going through all bounds is the definition.
TEST(Histogram, FindsTheSameBucketAsASearchThroughAllBounds) {
  const auto expected = [](int64_t value) {
    size_t bucket = 0;
    while (bucket < kDelayBounds.size() && value > kDelayBounds[bucket]) ++bucket;
    return bucket;
  };
  for (int bit = 0; bit < 63; ++bit) {
    for (int64_t offset = -2; offset <= 2; ++offset) {
      const int64_t value = (int64_t{1} << bit) + offset;
      if (value < 0) continue;
      EXPECT_EQ(Histogram<kDelayBounds>::BucketOf(value), expected(value)) << value;
    }
  }
  for (const int64_t bound : kDelayBounds) {
    for (int64_t value = bound - 1; value <= bound + 1; ++value) {
      EXPECT_EQ(Histogram<kDelayBounds>::BucketOf(value), expected(value)) << value;
    }
  }
}

TEST(Histogram, SeveralBoundsMayShareTheirHighestBit) {
  EXPECT_EQ(Attempts::BucketOf(1), 0u);
  EXPECT_EQ(Attempts::BucketOf(2), 1u);
  EXPECT_EQ(Attempts::BucketOf(3), 2u);
  EXPECT_EQ(Attempts::BucketOf(4), 3u);
  EXPECT_EQ(Attempts::BucketOf(5), 4u);
  EXPECT_EQ(Attempts::BucketOf(6), 5u);
  EXPECT_EQ(Attempts::BucketOf(10), 5u);
  EXPECT_EQ(Attempts::BucketOf(11), 6u);
}

TEST(Histogram, ObserveCountsAndAddsUp) {
  Attempts attempts;
  attempts.Observe(1);
  attempts.Observe(3);
  attempts.Observe(3);
  EXPECT_EQ(attempts.Read(0), 1u);
  EXPECT_EQ(attempts.Read(1), 0u);
  EXPECT_EQ(attempts.Read(2), 2u);
  EXPECT_EQ(attempts.ReadSum(), 7u);
}

TEST(Histogram, ANegativeValueCountsAsZero) {
  Durations durations;
  durations.Observe(-5);
  EXPECT_EQ(durations.Read(0), 1u);
  EXPECT_EQ(durations.ReadSum(), 0u);
}

}  // namespace
}  // namespace levee
