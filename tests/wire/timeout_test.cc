// SPDX-License-Identifier: Apache-2.0
#include "wire/timeout.h"

#include <string>

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Format(absl::Duration span) { return std::string(GrpcTimeoutText(span).view()); }

TEST(GrpcTimeout, EveryUnitIsRead) {
  EXPECT_EQ(ParseGrpcTimeout("1H"), absl::Hours(1));
  EXPECT_EQ(ParseGrpcTimeout("2M"), absl::Minutes(2));
  EXPECT_EQ(ParseGrpcTimeout("3S"), absl::Seconds(3));
  EXPECT_EQ(ParseGrpcTimeout("4m"), absl::Milliseconds(4));
  EXPECT_EQ(ParseGrpcTimeout("5u"), absl::Microseconds(5));
  EXPECT_EQ(ParseGrpcTimeout("6n"), absl::Nanoseconds(6));
}

TEST(GrpcTimeout, EightDigitsAreTheMost) {
  EXPECT_EQ(ParseGrpcTimeout("99999999m"), absl::Milliseconds(99'999'999));
  EXPECT_EQ(ParseGrpcTimeout("99999999H"), absl::Hours(99'999'999));
  EXPECT_EQ(ParseGrpcTimeout("00000001S"), absl::Seconds(1));
  EXPECT_EQ(ParseGrpcTimeout("100000000n"), std::nullopt);
}

TEST(GrpcTimeout, ZeroIsATimeoutThatHasPassed) {
  EXPECT_EQ(ParseGrpcTimeout("0n"), absl::ZeroDuration());
}

TEST(GrpcTimeout, AnythingElseIsRefused) {
  for (const char* text : {"", "1", "S", "1s", "1h", "-1S", "+1S", "1.5S", " 1S", "1S ", "1 S",
                           "1SS", "0x1S", "1\0S"}) {
    EXPECT_EQ(ParseGrpcTimeout(text), std::nullopt) << text;
  }
}

TEST(GrpcTimeout, IsWrittenInTheFinestUnitThatHoldsIt) {
  EXPECT_EQ(Format(absl::Nanoseconds(99'999'999)), "99999999n");
  EXPECT_EQ(Format(absl::Nanoseconds(100'000'000)), "100000u");
  EXPECT_EQ(Format(absl::Seconds(1)), "1000000u");
  EXPECT_EQ(Format(absl::Seconds(100)), "100000m");
  EXPECT_EQ(Format(absl::Hours(28)), "100800S");
  EXPECT_EQ(Format(absl::Hours(24 * 365 * 4)), "2102400M");
  EXPECT_EQ(Format(absl::Hours(24 * 365 * 200)), "1752000H");
}

TEST(GrpcTimeout, RoundsDownSoThatNoAttemptOutlivesTheCall) {
  EXPECT_EQ(Format(absl::Nanoseconds(100'000'999)), "100000u");
  EXPECT_EQ(Format(absl::Nanoseconds(1) + absl::Nanoseconds(1) / 2), "1n");
  EXPECT_EQ(Format(absl::Microseconds(100'000'000) - absl::Nanoseconds(1)), "99999999u");
}

TEST(GrpcTimeout, IsNeverBelowOneUnit) {
  EXPECT_EQ(Format(absl::ZeroDuration()), "1n");
  EXPECT_EQ(Format(absl::Nanoseconds(1) / 4), "1n");
  EXPECT_EQ(Format(-absl::Seconds(5)), "1n");
  EXPECT_EQ(Format(-absl::InfiniteDuration()), "1n");
}

TEST(GrpcTimeout, SpansBeyondEveryUnitSaturate) {
  EXPECT_EQ(Format(absl::InfiniteDuration()), "99999999H");
  EXPECT_EQ(Format(absl::Hours(100'000'000)), "99999999H");
  EXPECT_EQ(Format(absl::Hours(99'999'999)), "99999999H");
  EXPECT_EQ(Format(absl::Hours(24 * 365 * 300)), "2628000H");
}

TEST(GrpcTimeout, WhatIsWrittenReadsBackAtMostOneUnitShorter) {
  Random random(7);
  for (int i = 0; i < 100'000; ++i) {
    const absl::Duration span =
        absl::Nanoseconds(static_cast<int64_t>(random.Next() >> (1 + random.Below(63))) + 1);
    const std::string text = Format(span);
    ASSERT_LE(text.size(), 9u);
    const auto read = ParseGrpcTimeout(text);
    ASSERT_TRUE(read.has_value()) << text;
    ASSERT_LE(*read, span) << text;
    // Units are at most 1000 apart: at least 100,000 of the chosen one are left.
    ASSERT_GE(*read, span * (1 - 1e-5)) << text;
  }
}

}  // namespace
}  // namespace levee
