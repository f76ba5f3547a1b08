// SPDX-License-Identifier: Apache-2.0
#include "base/instant.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr int64_t kMostNanos = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastNanos = std::numeric_limits<int64_t>::min();

TEST(Instant, SpansMoveItForwardAndBack) {
  const Instant t = Instant::FromNanos(1'000);
  EXPECT_EQ((t + absl::Microseconds(2)).nanos(), 3'000);
  EXPECT_EQ((t - absl::Microseconds(2)).nanos(), -1'000);
}

TEST(Instant, DifferenceOfTwoIsTheSpanBetweenThem) {
  const Instant t = Instant::FromNanos(5);
  EXPECT_EQ(t + absl::Seconds(3) - t, absl::Seconds(3));
  EXPECT_EQ(t - (t + absl::Seconds(3)), -absl::Seconds(3));
}

TEST(Instant, DifferenceOfTheFarthestPairDoesNotOverflow) {
  const absl::Duration span = Instant::FromNanos(kMostNanos - 1) - Instant::FromNanos(kLeastNanos);
  EXPECT_EQ(span, absl::Nanoseconds(kMostNanos) + absl::Nanoseconds(kMostNanos));
}

TEST(Instant, InfiniteStaysInfiniteUnderAnySpan) {
  EXPECT_TRUE((Instant::Infinite() + absl::Hours(1)).is_infinite());
  EXPECT_TRUE((Instant::Infinite() - absl::Hours(1)).is_infinite());
  EXPECT_TRUE((Instant::Infinite() - absl::InfiniteDuration()).is_infinite());
}

TEST(Instant, AnInfiniteSpanLeadsToInfinite) {
  EXPECT_TRUE((Instant::FromNanos(7) + absl::InfiniteDuration()).is_infinite());
  EXPECT_TRUE((Instant::FromNanos(-7) + absl::InfiniteDuration()).is_infinite());
}

TEST(Instant, AdditionSaturatesInsteadOfOverflowing) {
  EXPECT_TRUE((Instant::FromNanos(kMostNanos - 1) + absl::Seconds(1)).is_infinite());
  EXPECT_EQ((Instant::FromNanos(kLeastNanos + 1) - absl::Seconds(1)).nanos(), kLeastNanos);
}

TEST(Instant, TimeLeftBeforeInfiniteIsInfinite) {
  EXPECT_EQ(Instant::Infinite() - Instant::FromNanos(3), absl::InfiniteDuration());
}

TEST(Instant, OrdersByTimeWithInfiniteLast) {
  EXPECT_LT(Instant::FromNanos(1), Instant::FromNanos(2));
  EXPECT_LT(Instant::FromNanos(kMostNanos - 1), Instant::Infinite());
  EXPECT_EQ(Instant(), Instant::FromNanos(0));
}

}  // namespace
}  // namespace levee
