// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_load.h"

#include <gtest/gtest.h>

#include <vector>

#include "policy/times.h"

namespace levee {
namespace {

constexpr double kMilli = 1e6;  // nanoseconds

TEST(EndpointLoad, TheCostIsTheLatencyTimesTheCallsThatThereWouldBe) {
  EndpointLoad load;
  load.RecordLatency(absl::Milliseconds(2), At(1));
  EXPECT_NEAR(load.Cost(0, At(1)), 2 * kMilli, 1);
  EXPECT_NEAR(load.Cost(4, At(1)), 10 * kMilli, 1);
}

TEST(EndpointLoad, AHigherLatencyCountsAtOnce) {
  EndpointLoad load;
  load.RecordLatency(absl::Milliseconds(2), At(1));
  load.RecordLatency(absl::Milliseconds(50), At(1));
  EXPECT_NEAR(load.Cost(0, At(1)), 50 * kMilli, 1);
}

// An estimate of `milliseconds` at `seconds`, on which many answers agree.
EndpointLoad Confirmed(double milliseconds, double seconds) {
  EndpointLoad load;
  for (int i = 10; i >= 0; --i) {
    load.RecordLatency(absl::Milliseconds(milliseconds), At(seconds - i));
  }
  return load;
}

TEST(EndpointLoad, ALowerLatencyCountsInTheCourseOfTheDecay) {
  EndpointLoad load = Confirmed(50, 100);
  load.RecordLatency(absl::Milliseconds(26), At(100));
  EXPECT_NEAR(load.Cost(0, At(100)), 50 * kMilli, 1);
  load.RecordLatency(absl::Milliseconds(26), At(110));
  // 50 ms keep 1/e of their weight.
  EXPECT_NEAR(load.Cost(0, At(110)), (50 * 0.36788 + 26 * 0.63212) * kMilli, 0.01 * kMilli);
}

TEST(EndpointLoad, WithoutCallsTheEstimateDecays) {
  EXPECT_NEAR(Confirmed(50, 100).Cost(0, At(120)), 50 * 0.13534 * kMilli, 0.01 * kMilli);
}

TEST(EndpointLoad, OneSlowAnswerIsForgottenWithinTwoSeconds) {
  EndpointLoad load = Confirmed(1, 100);
  load.RecordLatency(absl::Seconds(1), At(101));
  EXPECT_GT(load.Cost(0, At(101.5)), 100 * kMilli);
  EXPECT_LT(load.Cost(0, At(103)), 1 * kMilli);
  // And so is the first of all.
  EndpointLoad fresh;
  fresh.RecordLatency(absl::Seconds(1), At(1));
  EXPECT_LT(fresh.Cost(0, At(3)), 1 * kMilli);
}

TEST(EndpointLoad, AnEndpointThatIsSlowAgainAndAgainIsTriedMoreAndMoreRarely) {
  EndpointLoad load = Confirmed(1, 100);
  Instant now = At(101);
  std::vector<double> pauses;
  for (int i = 0; i < 6; ++i) {
    load.RecordLatency(absl::Milliseconds(300), now);
    const Instant slow = now;
    while (load.Cost(0, now) > 1 * kMilli) now = now + absl::Milliseconds(10);
    pauses.push_back(absl::ToDoubleSeconds(now - slow));
    now = now + absl::Milliseconds(300);
  }
  EXPECT_NEAR(pauses[0], 1.4, 0.1);
  EXPECT_NEAR(pauses[1], 5.7, 0.1);
  EXPECT_NEAR(pauses[2], 22.8, 0.1);
  EXPECT_NEAR(pauses[3], 57, 0.2);
  EXPECT_NEAR(pauses[5], 57, 0.2);
}

TEST(EndpointLoad, CallsThatWereSlowTogetherCountAsOne) {
  EndpointLoad load = Confirmed(1, 100);
  for (int i = 0; i < 50; ++i) {
    load.RecordLatency(absl::Seconds(1) + absl::Milliseconds(i), At(101) + absl::Milliseconds(i));
  }
  EXPECT_LT(load.Cost(0, At(103.5)), 1 * kMilli);
}

TEST(EndpointLoad, AnAttemptThatIsGivenUpCountsOnlyIfItTookLonger) {
  EndpointLoad load = Confirmed(20, 100);
  load.RecordGivenUp(absl::Milliseconds(5), At(110));
  EXPECT_NEAR(load.Cost(0, At(110)), 20 * 0.36788 * kMilli, 0.01 * kMilli);
  load.RecordGivenUp(absl::Milliseconds(90), At(110));
  EXPECT_NEAR(load.Cost(0, At(110)), 90 * kMilli, 1);
}

TEST(EndpointLoad, AnEndpointThatAsksForAWaitGetsATenthOfItsCallsForThatLong) {
  EndpointLoad load;
  load.Yield(absl::Seconds(3), At(5));
  load.Yield(absl::Seconds(1), At(6));
  EXPECT_DOUBLE_EQ(load.Share(At(7.9)), 0.1);
  EXPECT_EQ(load.Share(At(8)), 1);
  load.Yield(absl::InfiniteDuration(), At(10));
  EXPECT_EQ(load.Share(At(10) + EndpointLoad::kLongestYield), 1);
}

TEST(EndpointLoad, NothingIsKnownBeforeTheFirstAnswerAndAfterARestart) {
  EndpointLoad load;
  EXPECT_FALSE(load.known());
  load.RecordLatency(absl::ZeroDuration(), At(0));
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

TEST(EndpointLoad, NothingDecaysWhileAnAnswerIsOwedOrTheLastAttemptFailed) {
  EndpointLoad owes = Confirmed(50, 100);
  owes.RecordAttempt(At(100));
  EXPECT_NEAR(owes.Estimate(At(200)), 50 * kMilli, 1);
  owes.RecordLife(At(200));
  EXPECT_LT(owes.Estimate(At(200)), 1 * kMilli);
  EndpointLoad failing = Confirmed(50, 100);
  failing.RecordEnd(false, At(100));
  EXPECT_NEAR(failing.Estimate(At(200)), 50 * kMilli, 1);
}

TEST(EndpointLoad, AnEndpointThatFailsHalfOfItsCallsCostsTwiceAsMuch) {
  EndpointLoad load = Confirmed(10, 100);
  for (int i = 0; i < 1000; ++i) load.RecordEnd(i % 2 == 1, At(98 + 0.002 * i));
  EXPECT_NEAR(load.Cost(0, At(100)), 20 * kMilli, 1 * kMilli);
}

TEST(EndpointLoad, SilenceIsTheTimeForWhichAttemptsAreOutUnanswered) {
  EndpointLoad load = Confirmed(1, 100);
  load.RecordAttempt(At(100));
  EXPECT_FALSE(load.Overdue(At(100.9)));
  EXPECT_TRUE(load.Overdue(At(101.1)));
  EXPECT_NEAR(load.Cost(0, At(103)), 3e9, 1);
  // Attempts that their callers gave up early say little, however long ago they were.
  EndpointLoad given_up = Confirmed(1, 100);
  given_up.RecordAttempt(At(100));
  given_up.RecordIdle(At(100.1));
  EXPECT_FALSE(given_up.Overdue(At(200)));
  given_up.RecordAttempt(At(200));
  EXPECT_TRUE(given_up.Overdue(At(201)));
}

TEST(EndpointLoad, WhatTakesSecondsAsARuleIsNotOverdueAfterOne) {
  EndpointLoad load = Confirmed(2000, 100);
  load.RecordAttempt(At(100));
  EXPECT_FALSE(load.Overdue(At(107)));
  EXPECT_TRUE(load.Overdue(At(109)));
}

}  // namespace
}  // namespace levee
