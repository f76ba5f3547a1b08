// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_budget.h"

#include "gtest/gtest.h"
#include "policy/times.h"

namespace levee {
namespace {

// So much credit that the window alone decides.
constexpr double kPlenty = 1e6;

RetryBudgetPolicy WithoutFloor(double ratio) {
  return {.ratio = ratio, .floor_per_second = 0, .burst_least = kPlenty};
}

void Deposit(RetryBudget& budget, int calls, Instant now) {
  for (int i = 0; i < calls; ++i) budget.Deposit(0, now);
}

// How many withdrawals in a row are allowed.
int Drain(RetryBudget& budget, Instant now) {
  int taken = 0;
  while (budget.Withdraw(0, now)) ++taken;
  return taken;
}

void RecordEnds(RetryBudget& budget, int n, bool success, bool retry) {
  for (int i = 0; i < n; ++i) budget.RecordEnd({.success = success, .price = retry ? 1 : 0}, At(0));
}

TEST(RetryBudget, AllowsTheRatioOfTheCalls) {
  RetryBudget budget(WithoutFloor(0.1), 1);
  Deposit(budget, 9, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 0);
  Deposit(budget, 1, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 1);
  Deposit(budget, 90, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 9);
}

TEST(RetryBudget, RoundingCostsNoRetry) {
  RetryBudget budget(WithoutFloor(0.29), 1);  // 0.29 x 100 is a little less than 29.
  Deposit(budget, 100, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 29);
}

TEST(RetryBudget, A42_RatioOfThreeTenthsGivesThirtyPercent) {
  RetryBudget budget(WithoutFloor(0.3), 1);
  Deposit(budget, 1000, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 300);
}

TEST(RetryBudget, RatioOfZeroWithoutFloorAllowsNothing) {
  RetryBudget budget(WithoutFloor(0), 1);
  Deposit(budget, 1000, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 0);
}

TEST(RetryBudget, FloorAllowsRetriesWithoutCalls) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  EXPECT_EQ(Drain(budget, At(0)), 10);
}

TEST(RetryBudget, TheLargerOfRatioAndFloorCountsNotTheirSum) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  Deposit(budget, 120, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 12);
}

// The share of a budget that is left is all of it until a retry is made, however much more the
// window allows than can go at once.
TEST(RetryBudget, IsFullUntilRetriesAreMade) {
  RetryBudget budget({.ratio = 0.1, .floor_per_second = 0}, 1);
  for (int second = 0; second < 5; ++second) Deposit(budget, 100, At(second));
  RetryBudget::State state = budget.Read(At(5));
  EXPECT_DOUBLE_EQ(state.limit, 50);
  EXPECT_DOUBLE_EQ(state.at_once, 10);
  EXPECT_DOUBLE_EQ(state.available, 10);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(budget.Withdraw(0, At(5)));
  state = budget.Read(At(5));
  EXPECT_DOUBLE_EQ(state.at_once, 10);
  EXPECT_DOUBLE_EQ(state.available, 6);
}

TEST(RetryBudget, MoreThanTheWindowAllowsCannotGoAtOnce) {
  RetryBudget budget({.ratio = 0.1, .floor_per_second = 0}, 1);
  Deposit(budget, 10, At(0));
  EXPECT_DOUBLE_EQ(budget.Read(At(0)).at_once, 1);
}

TEST(RetryBudget, A43_RefusalLeavesBalanceUnchanged) {
  RetryBudget budget(WithoutFloor(0.1), 1);
  Deposit(budget, 15, At(0));
  ASSERT_TRUE(budget.Withdraw(0, At(1)));
  const RetryBudget::State before = budget.Read(At(1));
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(budget.Withdraw(0, At(1)));
  const RetryBudget::State after = budget.Read(At(1));
  EXPECT_EQ(after.retries, before.retries);
  EXPECT_EQ(after.calls, before.calls);
  EXPECT_EQ(after.limit, before.limit);
  EXPECT_EQ(after.available, before.available);
  Deposit(budget, 5, At(1));
  EXPECT_TRUE(budget.Withdraw(0, At(1)));
}

// Each refusal reserves in a slot of its own; what it takes back must not be what others counted.
TEST(RetryBudget, A43_RefusalInANewSlotLeavesOlderRetriesCounted) {
  RetryBudget budget({.ratio = 0, .floor_per_second = 0.2}, 1);
  ASSERT_EQ(Drain(budget, At(0)), 2);
  for (int second = 1; second <= 10; ++second) {
    ASSERT_FALSE(budget.Withdraw(0, At(second)));
    ASSERT_EQ(budget.Read(At(second)).retries, 2);
  }
}

TEST(RetryBudget, A45_OnlyDepositsCountAsCalls) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  Deposit(budget, 3, At(0));
  Drain(budget, At(0));
  RecordEnds(budget, 50, true, true);
  RecordEnds(budget, 50, true, false);
  EXPECT_EQ(budget.Read(At(0)).calls, 3);
}

TEST(RetryBudget, CallsCountUntilTheirWholeSlotIsOlderThanTheWindow) {
  RetryBudget budget(WithoutFloor(1), 1);
  Deposit(budget, 1, At(0.999));
  EXPECT_EQ(budget.Read(At(10.999)).calls, 1);
  EXPECT_EQ(budget.Read(At(11)).calls, 0);
}

TEST(RetryBudget, RetriesCountAsLongAsCalls) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  ASSERT_EQ(Drain(budget, At(0.5)), 10);
  EXPECT_FALSE(budget.Withdraw(0, At(10.999)));
  EXPECT_EQ(Drain(budget, At(11)), 10);
}

TEST(RetryBudget, ACallPaysForOneRetryOnly) {
  RetryBudget budget(WithoutFloor(1), 1);
  Deposit(budget, 1, At(0.9));
  ASSERT_TRUE(budget.Withdraw(0, At(9.9)));
  for (double t = 10; t < 30; t += 0.1) ASSERT_FALSE(budget.Withdraw(0, At(t))) << t;
}

TEST(RetryBudget, ALongPauseForgetsEverything) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  Deposit(budget, 1000, At(3));
  Drain(budget, At(3));
  const RetryBudget::State state = budget.Read(At(1'000'000));
  EXPECT_EQ(state.calls, 0);
  EXPECT_EQ(state.retries, 0);
  EXPECT_EQ(Drain(budget, At(1'000'000)), 10);
}

TEST(RetryBudget, WindowsOfAnyLengthHaveTenSlots) {
  RetryBudget budget(
      {.ratio = 1, .window = absl::Minutes(10), .floor_per_second = 0, .burst_least = kPlenty}, 1);
  Deposit(budget, 5, At(30));
  EXPECT_EQ(budget.Read(At(659)).calls, 5);
  EXPECT_EQ(budget.Read(At(660)).calls, 0);
}

TEST(RetryBudget, A46_FloorIsWithheldOnlyWhileAttemptsAndRetriesBothFail) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  RecordEnds(budget, 4, false, true);
  EXPECT_FALSE(budget.Read(At(0)).floor_withheld);  // 16 of 20 is just enough.
  RecordEnds(budget, 1, false, true);
  EXPECT_TRUE(budget.Read(At(0)).floor_withheld);
  EXPECT_EQ(Drain(budget, At(0)), 0);
}

TEST(RetryBudget, A46_RetriesThatWorkKeepTheFloor) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  for (int i = 0; i < 50; ++i) {
    budget.RecordEnd({}, At(0));
    budget.RecordEnd({.success = true, .price = 1}, At(0));
  }
  EXPECT_FALSE(budget.Read(At(0)).floor_withheld);
  EXPECT_EQ(Drain(budget, At(0)), 10);
}

TEST(RetryBudget, A46_AttemptsThatWorkKeepTheFloor) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  for (int i = 0; i < 20; ++i) budget.RecordEnd({.price = 1}, At(0));
  EXPECT_TRUE(budget.Read(At(0)).floor_withheld);
  RecordEnds(budget, 16, true, false);
  EXPECT_FALSE(budget.Read(At(0)).floor_withheld);
}

TEST(RetryBudget, A46_FloorComesBackAfterRecovery) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  RecordEnds(budget, 40, false, true);
  EXPECT_EQ(Drain(budget, At(0)), 0);
  RecordEnds(budget, 15, true, false);
  EXPECT_EQ(Drain(budget, At(0)), 0);
  RecordEnds(budget, 1, true, false);
  EXPECT_EQ(Drain(budget, At(0)), 10);
}

TEST(RetryBudget, A48_WorkersShareOneBudget) {
  RetryBudget budget(WithoutFloor(0.1), 2);
  for (int i = 0; i < 10; ++i) budget.Deposit(i % 2, At(0));
  EXPECT_TRUE(budget.Withdraw(1, At(0)));
  EXPECT_FALSE(budget.Withdraw(0, At(0)));
  EXPECT_FALSE(budget.Withdraw(1, At(0)));
}

TEST(RetryBudget, A48_AWorkerWhoseTimeLagsSeesTheRetriesOfTheOther) {
  RetryBudget budget({.ratio = 0, .floor_per_second = 0.1}, 2);
  ASSERT_TRUE(budget.Withdraw(1, At(25)));
  EXPECT_FALSE(budget.Withdraw(0, At(24)));
  EXPECT_FALSE(budget.Withdraw(0, At(3)));
  EXPECT_FALSE(budget.Withdraw(0, At(35.9)));
  EXPECT_TRUE(budget.Withdraw(0, At(36)));
}

TEST(RetryBudget, A48_ALaggingWorkersRetryIsChargedToTheSharedWindow) {
  RetryBudget budget({.ratio = 0, .floor_per_second = 0.2}, 2);
  ASSERT_TRUE(budget.Withdraw(1, At(25)));
  ASSERT_TRUE(budget.Withdraw(0, At(3)));
  EXPECT_FALSE(budget.Withdraw(1, At(26)));
  EXPECT_EQ(budget.Read(At(35)).retries, 2);
  EXPECT_EQ(budget.Read(At(36)).retries, 0);
}

TEST(RetryBudget, StateShowsWhatIsLeft) {
  RetryBudget budget({.burst_least = kPlenty}, 2);
  for (int i = 0; i < 200; ++i) budget.Deposit(i % 2, At(1));
  budget.Withdraw(0, At(1));
  budget.Withdraw(1, At(2));
  const RetryBudget::State state = budget.Read(At(2));
  EXPECT_EQ(state.calls, 200);
  EXPECT_EQ(state.retries, 2);
  EXPECT_DOUBLE_EQ(state.limit, 20);
  EXPECT_DOUBLE_EQ(state.available, 18);
}

TEST(RetryBudget, WhatIsLeftIsNoMoreThanTheCredit) {
  RetryBudget budget({}, 1);
  Deposit(budget, 100, At(0));
  EXPECT_DOUBLE_EQ(budget.Read(At(5)).available, 2);
  ASSERT_EQ(Drain(budget, At(5)), 2);
  EXPECT_DOUBLE_EQ(budget.Read(At(5)).available, 0);
  EXPECT_DOUBLE_EQ(budget.Read(At(5)).limit, 10);
}

TEST(RetryBudget, ARetryThatTheWindowRefusesCostsNoCredit) {
  RetryBudget budget({.ratio = 0.1, .floor_per_second = 0}, 1);
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(budget.Withdraw(0, At(0)));
  Deposit(budget, 20, At(0));
  EXPECT_EQ(Drain(budget, At(0)), 2);
}

TEST(RetryBudget, RetriesThatWorkAreFreeWhileAtMostTwoOfTheLastTwentyFailed) {
  RetryBudget budget({}, 1);
  RecordEnds(budget, 2, false, true);
  ASSERT_EQ(Drain(budget, At(0)), 2);
  RecordEnds(budget, 1, true, true);
  EXPECT_DOUBLE_EQ(budget.Read(At(0)).available, 1);
}

TEST(RetryBudget, AStreakOfRetriesThatWorkIsNotFreeWhileOthersFail) {
  RetryBudget budget({}, 1);
  RecordEnds(budget, 3, false, true);
  ASSERT_EQ(Drain(budget, At(0)), 2);
  RecordEnds(budget, 5, true, true);
  EXPECT_DOUBLE_EQ(budget.Read(At(0)).available, 0.5);
}

TEST(RetryBudget, WhatIsLeftIsNeverNegative) {
  RetryBudget budget({.burst_least = kPlenty}, 1);
  Drain(budget, At(0));
  RecordEnds(budget, 20, false, true);
  EXPECT_EQ(budget.Read(At(0)).limit, 0);
  EXPECT_EQ(budget.Read(At(0)).available, 0);
}

// A destination with two retries to spare of which all attempts fail from second 1 on.
class RetryBudgetRun : public ::testing::Test {
 protected:
  using Turn = RetryBudget::Turn;
  RetryBudgetRun() { budget.RecordEnd({}, At(1)); }
  Turn Ask(double at, bool last = false) { return budget.Ask(0, {At(1), last}, At(at)); }
  RetryBudget budget{{}, 1};
};

TEST_F(RetryBudgetRun, AllButOneRetryGoesAtOnceAndTheLastOneWhenTheWaitIsOver) {
  EXPECT_EQ(Ask(1), Turn::kGo);
  EXPECT_EQ(Ask(1), Turn::kWait);
  EXPECT_FALSE(budget.Release(0, At(1), At(2.09)));
  EXPECT_TRUE(budget.Release(0, At(1), At(2.1)));
  EXPECT_EQ(Ask(2.1), Turn::kRefused);
  EXPECT_EQ(Ask(100), Turn::kRefused);
}

TEST_F(RetryBudgetRun, ACallsLastAttemptWaits) { EXPECT_EQ(Ask(1, /*last=*/true), Turn::kWait); }

TEST_F(RetryBudgetRun, NoMoreWaitThanTheWindowPays) {
  RetryBudget scarce({.floor_per_second = 0.3}, 1);  // three in the window
  scarce.RecordEnd({}, At(1));
  EXPECT_EQ(scarce.Ask(0, {At(1)}, At(1)), Turn::kGo);
  for (int waiting = 0; waiting < 2; ++waiting) {
    EXPECT_EQ(scarce.Ask(0, {At(1)}, At(1)), Turn::kWait);
    scarce.CountWaiting(1);
  }
  EXPECT_EQ(scarce.Ask(0, {At(1)}, At(1)), Turn::kRefused);
}

TEST_F(RetryBudgetRun, BehindASuccessTheCreditAloneDecidesAndNothingWaits) {
  ASSERT_EQ(Ask(1), Turn::kGo);
  budget.RecordEnd({.success = true}, At(1.5));
  EXPECT_EQ(Ask(1.5, /*last=*/true), Turn::kGo);
  EXPECT_EQ(Ask(1.5), Turn::kRefused);
}

TEST(RetryBudget, ATimeoutIsDearWhereOtherCallsTimeOutToo) {
  RetryBudget budget({}, 1);
  budget.RecordEnd({.timeout = true}, At(0));
  EXPECT_EQ(budget.PriceOfTimeout(/*own=*/1), 1);
  budget.RecordEnd({.timeout = true}, At(0));
  EXPECT_EQ(budget.PriceOfTimeout(/*own=*/1), 10);
  RecordEnds(budget, 20, /*success=*/true, /*retry=*/false);
  EXPECT_EQ(budget.PriceOfTimeout(/*own=*/0), 1);
}

}  // namespace
}  // namespace levee
