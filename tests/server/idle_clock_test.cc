// SPDX-License-Identifier: Apache-2.0
#include "server/idle_clock.h"

#include <gtest/gtest.h>

#include "server/times.h"

namespace levee {
namespace {

TEST(IdleClock, BeginsWithTheFirstLook) {
  IdleClock clock;
  EXPECT_EQ(clock.Look(/*work=*/0, /*busy=*/false, At(100)), absl::ZeroDuration());
  EXPECT_EQ(clock.Look(0, false, At(130)), absl::Seconds(30));
}

TEST(IdleClock, BeginsAnewWithEachWorkAndWhileSomethingRuns) {
  IdleClock clock;
  clock.Look(1, false, At(0));
  EXPECT_EQ(clock.Look(2, false, At(50)), absl::ZeroDuration());
  EXPECT_EQ(clock.Look(2, true, At(60)), absl::ZeroDuration());
  EXPECT_EQ(clock.Look(2, false, At(70)), absl::Seconds(10));
}

}  // namespace
}  // namespace levee
