// SPDX-License-Identifier: Apache-2.0
#include "demo/schedule.h"

#include <gtest/gtest.h>

namespace levee::demo {
namespace {

TEST(Schedule, TwoRunsFitIntoTheTotal) {
  for (const int seconds : {15, 28, 120}) {
    const absl::Duration total = absl::Seconds(seconds);
    EXPECT_LT(2 * Schedule::Within(total).length(), total) << seconds;
    EXPECT_GT(2 * Schedule::Within(total).length(), total - absl::Seconds(5)) << seconds;
  }
}

TEST(Schedule, GivesTheMostTimeToTheRecovery) {
  const Schedule schedule = Schedule::Within(absl::Seconds(28));
  EXPECT_EQ(schedule.calm, absl::Milliseconds(1800));
  EXPECT_EQ(schedule.storm, absl::Milliseconds(4200));
  EXPECT_EQ(schedule.recovery, absl::Milliseconds(6000));
}

TEST(Schedule, APhaseBeginsWhereTheOneBeforeEnds) {
  const Schedule schedule{absl::Seconds(2), absl::Seconds(3), absl::Seconds(5)};
  EXPECT_EQ(schedule.At(absl::ZeroDuration()), Phase::kCalm);
  EXPECT_EQ(schedule.At(absl::Milliseconds(1999)), Phase::kCalm);
  EXPECT_EQ(schedule.At(absl::Seconds(2)), Phase::kStorm);
  EXPECT_EQ(schedule.At(absl::Seconds(5)), Phase::kRecovery);
  EXPECT_EQ(schedule.At(absl::Seconds(11)), Phase::kRecovery);
  EXPECT_EQ(schedule.storm_end(), absl::Seconds(5));
  EXPECT_EQ(schedule.length(), absl::Seconds(10));
}

}  // namespace
}  // namespace levee::demo
