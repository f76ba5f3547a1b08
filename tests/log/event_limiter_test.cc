// SPDX-License-Identifier: Apache-2.0
// How often events of one kind are written, on virtual time.
#include "log/event_limiter.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

class EventLimiterTest : public testing::Test {
 protected:
  // How many of `events` that come at once `seconds` after the start are written.
  int Written(double seconds, int events) {
    int written = 0;
    for (int i = 0; i < events; ++i) {
      if (limiter_.Admit(Instant::FromNanos(0) + absl::Seconds(seconds))) {
        ++written;
      } else {
        limiter_.Suppress();
      }
    }
    return written;
  }

  EventLimiter limiter_{/*at_once=*/3, absl::Seconds(6)};
};

TEST_F(EventLimiterTest, SomeAreWrittenAtOnceAndThenOneForEachSpacing) {
  EXPECT_EQ(Written(0, 100), 3);
  EXPECT_EQ(Written(5.9, 100), 0);
  EXPECT_EQ(Written(6, 100), 1);
  EXPECT_EQ(Written(12, 100), 1);
}

TEST_F(EventLimiterTest, AfterAQuietTimeNoMoreAreWrittenAtOnceThanAtTheStart) {
  EXPECT_EQ(Written(0, 100), 3);
  EXPECT_EQ(Written(3600, 100), 3);
}

TEST_F(EventLimiterTest, InNoMinuteAreMoreWrittenThanTheBurstAndOneForEachSpacing) {
  int written = 0;
  for (int i = 0; i < 600; ++i) written += Written(i * 0.1, 1);
  EXPECT_EQ(written, 3 + 9);
}

TEST_F(EventLimiterTest, WhatIsHeldBackIsCountedOnce) {
  Written(0, 10);
  EXPECT_EQ(limiter_.TakeSuppressed(), 7u);
  EXPECT_EQ(limiter_.TakeSuppressed(), 0u);
}

TEST_F(EventLimiterTest, AnotherThreadsClockThatIsBehindAddsNothing) {
  EXPECT_EQ(Written(10, 2), 2);
  EXPECT_EQ(Written(9.9, 10) + Written(10, 10), 1);
}

TEST(EventLimiter, OneAtOnceIsOneForEachSpacing) {
  EventLimiter limiter(1, absl::Minutes(1));
  const Instant start = Instant::FromNanos(7);
  EXPECT_TRUE(limiter.Admit(start));
  EXPECT_FALSE(limiter.Admit(start + absl::Seconds(59)));
  EXPECT_TRUE(limiter.Admit(start + absl::Seconds(60)));
}

}  // namespace
}  // namespace levee
