// SPDX-License-Identifier: Apache-2.0
// The retry budget as calls spend it.
#include <vector>

#include "call/call_fixture.h"
#include "sim/workload.h"

namespace levee {
namespace {

class CallBudget : public CallTest {
 protected:
  // The default window instead of a large one, and so much credit that it alone decides. No retry
  // waits.
  CallBudget() { retry_.budget = {.burst_least = 1000, .wait = absl::ZeroDuration()}; }

  RetryBudget::State Balance() { return sidecar_.budget().Read(clock_.now()); }

  // Fills the register of retries with failures and that of attempts with successes.
  void OnlyAttemptsKeepTheFloor() {
    for (int i = 0; i < 20; ++i) sidecar_.budget().RecordEnd({.price = 1}, clock_.now());
    for (int i = 0; i < 20; ++i) sidecar_.budget().RecordEnd({.success = true}, clock_.now());
  }
};

void ExpectSame(const RetryBudget::State& a, const RetryBudget::State& b) {
  EXPECT_EQ(a.limit, b.limit);
  EXPECT_EQ(a.available, b.available);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.retries, b.retries);
}

TEST_F(CallBudget, A42_ARatioOf30PercentGives30Percent) {
  retry_.budget.ratio = 0.3;
  retry_.budget.floor_per_second = 0;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  RunWorkload(sidecar_, {.per_second = 100, .calls = 3000});
  const Tally tally = sidecar_.tally();
  EXPECT_LE(tally.PerCall(), 1.3);
  EXPECT_GE(tally.PerCall(), 1.29);
}

TEST_F(CallBudget, A41_HoldsForCodesThatOnlyARuleLists) {
  retry_.rules = {{.codes = {StatusCode::kResourceExhausted}, .max_attempts = 3}};
  retry_.rules[0].backoff = retry_.backoff;
  Upstream({TrailersOnly(StatusCode::kResourceExhausted)});
  RunWorkload(sidecar_, {.per_second = 1, .calls = 300});
  EXPECT_LE(sidecar_.tally().PerCall(), 1.11);
}

TEST_F(CallBudget, ARetryBehindATimeoutTakesTenTimesTheCreditOfAnotherWhereOthersTimeOutToo) {
  retry_.budget = {.floor_per_second = 1000, .floor_min_success = 0, .burst_least = 20};
  retry_.attempt_timeout = Ms(10);
  retry_.max_attempts = 2;
  Upstream({Silence()});
  for (int i = 0; i < 5; ++i) sidecar_.Unary();
  clock_.Run();
  // 1 for the first, whose call is the only one so far, 10 for each of two more.
  EXPECT_EQ(sidecar_.tally().attempts, 5 + 3);
}

TEST_F(CallBudget, ACallerWhoseTriesHangAloneGetsThemAll) {
  retry_.budget = {};
  retry_.attempt_timeout = Ms(200);
  retry_.max_attempts = 3;
  Upstream({Silence(), Silence(), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallBudget, RetriesBehindTimeoutsThatWorkGiveTheirPriceBack) {
  retry_.budget = {.floor_per_second = 1000, .burst_least = 1};
  retry_.attempt_timeout = Ms(10);
  Upstream({Silence(), Ok(), Silence(), Ok(), Silence(), Ok()});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
  EXPECT_EQ(Balance().available, 1);
}

TEST_F(CallBudget, A43_ARefusalChangesNoBalance) {
  retry_.budget.floor_per_second = 0;
  retry_.max_attempts = 2;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 15; ++i) sidecar_.Unary();
  clock_.RunFor(Ms(10));
  const RetryBudget::State before = Balance();
  EXPECT_EQ(before.retries, 1);
  // A retry of the application's own is refused as well, and deposits nothing.
  SimHost& refused = sidecar_.Unary({.previous_attempts = 1});
  EXPECT_TRUE(refused.finished());
  ExpectSame(Balance(), before);
}

TEST_F(CallBudget, A43_ARefusedRetryLeavesTheAllowanceToTheNextCall) {
  retry_.budget.floor_per_second = 0;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 9; ++i) RunUnary();
  EXPECT_EQ(Balance().retries, 0);
  EXPECT_EQ(RunUnary().attempts(), 2);
}

TEST_F(CallBudget, A44_ARefusedRetryFailsAtOnce) {
  retry_.budget.floor_per_second = 0;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().finished_at, Ms(1));
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  EXPECT_FALSE(call.timer_armed());
}

TEST_F(CallBudget, A45_ACallDepositsOnceHoweverManyItsAttempts) {
  retry_.budget.floor_min_success = 0;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  EXPECT_EQ(RunUnary().attempts(), 4);
  EXPECT_EQ(RunUnary().attempts(), 4);
  EXPECT_EQ(Balance().calls, 2);
  EXPECT_EQ(Balance().retries, 6);
}

TEST_F(CallBudget, A45_ApplicationRetriesDepositNothing) {
  Upstream({Ok()});
  for (AppRetries mode : {AppRetries::kLimit, AppRetries::kCount, AppRetries::kIgnore}) {
    retry_.app_retries = mode;
    EXPECT_EQ(RunUnary({.previous_attempts = 1}).attempts(), 1);
  }
  EXPECT_EQ(Balance().calls, 0);
  EXPECT_EQ(Balance().retries, 2);
}

TEST_F(CallBudget, A45_RefusedCallsDepositNothing) {
  retry_.budget.floor_per_second = 0;
  Upstream({Ok()});
  RunUnary({.timeout = absl::ZeroDuration()});
  RunUnary({.previous_attempts = 1});
  EXPECT_EQ(sidecar_.tally().attempts, 0);
  EXPECT_EQ(Balance().calls, 0);
}

TEST_F(CallBudget, A46_TheFloorIsWithheldWhileNothingSucceedsAndComesBack) {
  std::vector<Answer> answers(60, TrailersOnly(StatusCode::kUnavailable));
  answers.push_back(Ok());
  Upstream(answers);
  RunWorkload(sidecar_, {.per_second = 1, .calls = 30});
  EXPECT_TRUE(Balance().floor_withheld);
  EXPECT_LT(Balance().limit, 2);
  RunWorkload(sidecar_, {.per_second = 1, .calls = 60});
  EXPECT_FALSE(Balance().floor_withheld);
  EXPECT_EQ(Balance().limit, 10);
}

TEST_F(CallBudget, A46_RetriesThatSucceedKeepTheFloor) {
  sidecar_.AddEndpoint(InTurn({TrailersOnly(StatusCode::kUnavailable)}));
  sidecar_.AddEndpoint(InTurn({Ok()}));
  RunWorkload(sidecar_, {.per_second = 1, .calls = 100});
  EXPECT_FALSE(Balance().floor_withheld);
  EXPECT_EQ(sidecar_.tally().ok, 100);
}

TEST_F(CallBudget, A46_CallsThatRunIntoTheirDeadlineAreNoSuccesses) {
  OnlyAttemptsKeepTheFloor();
  HasAnswered(sidecar_);
  Upstream({Silence()});
  for (int i = 0; i < 4; ++i) RunUnary({.timeout = Ms(50)});
  EXPECT_FALSE(Balance().floor_withheld);
  RunUnary({.timeout = Ms(50)});
  EXPECT_TRUE(Balance().floor_withheld);
}

TEST_F(CallBudget, A46_FailuresThatThePolicyDoesNotRetryAreNoSuccesses) {
  retry_.failures.reset = false;
  OnlyAttemptsKeepTheFloor();
  Upstream({Answer().ConnectionLost(Ms(1))});
  for (int i = 0; i < 5; ++i) RunUnary();
  EXPECT_TRUE(Balance().floor_withheld);
}

TEST_F(CallBudget, A46_StatusesOfTheApplicationAreSuccesses) {
  OnlyAttemptsKeepTheFloor();
  Upstream({TrailersOnly(StatusCode::kNotFound)});
  for (int i = 0; i < 20; ++i) RunUnary();
  EXPECT_FALSE(Balance().floor_withheld);
}

TEST_F(CallBudget, A46_MarkedStatusesAreNoSuccesses) {
  OnlyAttemptsKeepTheFloor();
  Upstream({TrailersOnly(StatusCode::kResourceExhausted, {{"levee-overload", "service"}})});
  for (int i = 0; i < 5; ++i) RunUnary();
  EXPECT_TRUE(Balance().floor_withheld);
}

TEST_F(CallBudget, A46_CallersThatLeaveSayNothingAboutTheUpstream) {
  OnlyAttemptsKeepTheFloor();
  Upstream({Silence()});
  for (int i = 0; i < 20; ++i) sidecar_.Unary().Leave();
  EXPECT_FALSE(Balance().floor_withheld);
}

TEST_F(CallBudget, A51_TheFloorIsGivenOncePerWindow) {
  retry_.budget = {
      .ratio = 0, .window = absl::Seconds(1), .floor_per_second = 1, .floor_min_success = 0};
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  RunWorkload(sidecar_, {.per_second = 100, .calls = 10'000, .poisson_seed = 1});
  const int64_t windows = absl::ToInt64Seconds(clock_.elapsed()) + 1;
  EXPECT_LE(sidecar_.tally().attempts, 10'000 + windows);
  EXPECT_GE(sidecar_.tally().attempts, 10'000 + windows * 8 / 10);
}

// At every alignment of the calls to the slots in which the budget keeps its window.
TEST_F(CallBudget, A51_TheSameFloorIsNotSpentTwiceWithinAWindow) {
  retry_.budget = {
      .ratio = 0, .window = absl::Seconds(1), .floor_per_second = 1, .floor_min_success = 0};
  retry_.max_attempts = 2;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 100; ++i) {
    clock_.RunFor(Ms(10'001));
    SimHost& first = sidecar_.Unary();
    clock_.RunFor(Ms(997));
    SimHost& within = sidecar_.Unary();
    clock_.RunFor(Ms(200));
    SimHost& after = sidecar_.Unary();
    clock_.RunFor(Ms(200));
    EXPECT_EQ(first.attempts(), 2);
    EXPECT_EQ(within.attempts(), 1);
    EXPECT_EQ(after.attempts(), 2);
  }
}

TEST_F(CallBudget, A66_AnApplicationsRetryOverBudgetIsAnsweredWithTheMark) {
  retry_.budget.floor_per_second = 0;
  Upstream({Ok()});
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().finished_at, Ms(0));
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.caller().trailers.Get("levee-overload"),
            "service;reason=budget;upstream=cart;hops=1");
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_TRUE(call.record().app_retry);
  EXPECT_TRUE(call.record().app_retry_refused);
}

TEST_F(CallBudget, A47_AnApplicationsRetryWithinBudgetIsAdmittedAndCharged) {
  Upstream({Ok()});
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_TRUE(call.record().app_retry);
  EXPECT_FALSE(call.record().app_retry_refused);
  EXPECT_EQ(Balance().retries, 1);
}

TEST_F(CallBudget, A66_CountAdmitsAnApplicationsRetryOverBudget) {
  retry_.budget.floor_per_second = 0;
  retry_.app_retries = AppRetries::kCount;
  Upstream({Ok()});
  EXPECT_EQ(RunUnary({.previous_attempts = 1}).caller().code, StatusCode::kOk);
}

TEST_F(CallBudget, A66_IgnoreNeitherChargesNorRefusesAnApplicationsRetry) {
  retry_.app_retries = AppRetries::kIgnore;
  Upstream({Ok()});
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_FALSE(call.record().app_retry);
  EXPECT_EQ(Balance().retries, 0);
}

// gRPC's own retryPolicy above the sidecar, with a server that ignores the mark's pushback.
TEST_F(CallBudget, A66_AnApplicationThatRetriesByItselfIsBounded) {
  retry_.app_retries = AppRetries::kLimit;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  const Workload three_attempts_each = {
      .per_second = 300, .calls = 3000, .facts = [](int64_t n) -> RequestFacts {
        return {.previous_attempts = static_cast<int>(n % 3)};
      }};
  RunWorkload(sidecar_, three_attempts_each);
  EXPECT_LE(sidecar_.tally().attempts, 1110);
}

}  // namespace
}  // namespace levee
