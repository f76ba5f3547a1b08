// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_load.h"

#include <gtest/gtest.h>

namespace levee {
namespace {

constexpr double kMilli = 1e6;  // nanoseconds

Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

TEST(EndpointLoad, TheCostIsTheLatencyTimesTheCallsThatThereWouldBe) {
  EndpointLoad load;
  load.RecordAnswer(absl::Milliseconds(2), At(1));
  EXPECT_NEAR(load.Cost(0, At(1)), 2 * kMilli, 1);
  EXPECT_NEAR(load.Cost(4, At(1)), 10 * kMilli, 1);
}

TEST(EndpointLoad, AHigherLatencyCountsAtOnce) {
  EndpointLoad load;
  load.RecordAnswer(absl::Milliseconds(2), At(1));
  load.RecordAnswer(absl::Milliseconds(50), At(1));
  EXPECT_NEAR(load.Cost(0, At(1)), 50 * kMilli, 1);
}

TEST(EndpointLoad, ALowerLatencyCountsInTheCourseOfTheDecay) {
  EndpointLoad load;
  load.RecordAnswer(absl::Milliseconds(50), At(0));
  load.RecordAnswer(absl::Milliseconds(2), At(0));
  EXPECT_NEAR(load.Cost(0, At(0)), 50 * kMilli, 1);
  load.RecordAnswer(absl::Milliseconds(2), At(10));
  // 50 ms keep 1/e of their weight.
  EXPECT_NEAR(load.Cost(0, At(10)), (50 * 0.36788 + 2 * 0.63212) * kMilli, 0.01 * kMilli);
}

TEST(EndpointLoad, WithoutCallsTheEstimateDecays) {
  EndpointLoad load;
  load.RecordAnswer(absl::Milliseconds(50), At(0));
  EXPECT_NEAR(load.Cost(0, At(20)), 50 * 0.13534 * kMilli, 0.01 * kMilli);
}

TEST(EndpointLoad, AnAttemptThatIsGivenUpCountsOnlyIfItTookLonger) {
  EndpointLoad load;
  load.RecordAnswer(absl::Milliseconds(20), At(0));
  load.RecordGivenUp(absl::Milliseconds(5), At(10));
  EXPECT_NEAR(load.Cost(0, At(10)), 20 * 0.36788 * kMilli, 0.01 * kMilli);
  load.RecordGivenUp(absl::Milliseconds(90), At(10));
  EXPECT_NEAR(load.Cost(0, At(10)), 90 * kMilli, 1);
}

TEST(EndpointLoad, NothingIsKnownBeforeTheFirstAnswerAndAfterARestart) {
  EndpointLoad load;
  EXPECT_FALSE(load.known());
  load.RecordAnswer(absl::ZeroDuration(), At(0));
  EXPECT_TRUE(load.known());
  load.Restart(At(1));
  EXPECT_FALSE(load.known());
}

TEST(EndpointLoad, TheShareGrowsToAWholeOverTheSlowStart) {
  EndpointLoad load;
  EXPECT_EQ(load.Share(At(0)), 1);
  load.Restart(At(5));
  EXPECT_DOUBLE_EQ(load.Share(At(5)), 0.1);
  EXPECT_DOUBLE_EQ(load.Share(At(10)), 0.5);
  EXPECT_DOUBLE_EQ(load.Share(At(14)), 0.9);
  EXPECT_EQ(load.Share(At(15)), 1);
}

}  // namespace
}  // namespace levee
