// SPDX-License-Identifier: Apache-2.0
// Calls that are taken for the retry of an application's own loop.
#include "sim/app_loop.h"

#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

const std::string kOtherMessage("\0\0\0\0\4pong", 9);

// No call has more than one attempt, and the budget has two credits and no floor.
class AppLoopTest : public CallTest {
 protected:
  AppLoopTest() {
    retry_.max_attempts = 1;
    retry_.budget = {.floor_per_second = 0};
    retry_.exhausted = ExhaustedMode::kAuto;
  }

  SimHost& Begin(SimOrigin origin, const RequestFacts& facts = {}) {
    return sidecar_.NewCall(facts, nullptr, origin);
  }

  // A call with its whole request, run to its end.
  SimHost& Run(SimOrigin origin, const std::string& message = kMessage) {
    SimHost& call = Begin(origin);
    call.Send(message, /*end=*/true);
    clock_.RunFor(Ms(5));
    EXPECT_TRUE(call.finished());
    return call;
  }

  static bool IsLoop(const SimHost& call) { return call.record().app_retry == AppRetrySign::kLoop; }

  void SpendTheBudget() {
    while (sidecar_.budget().Withdraw(0, clock_.now())) {
    }
  }

  // A call of another kind succeeded, so that the window has calls.
  void CallsBefore(int n) {
    for (int i = 0; i < n; ++i) sidecar_.budget().Deposit(0, clock_.now());
  }

  const Answer failure_ = TrailersOnly(StatusCode::kUnavailable);
};

constexpr SimOrigin kTrace{.trace = 1};
constexpr SimOrigin kConnection{.connection = 1};

TEST_F(AppLoopTest, AnEqualCallOfTheTraceThatFailedBeforeIsTheApplicationsRetry) {
  Upstream({failure_, Ok()});
  CallsBefore(100);
  EXPECT_FALSE(IsLoop(Run(kTrace)));
  SimHost& retry = Run(kTrace);
  EXPECT_TRUE(IsLoop(retry));
  EXPECT_EQ(retry.caller().code, StatusCode::kOk);
  EXPECT_FALSE(retry.record().app_retry_refused);
  // It is charged as one that says so, and pays for no others.
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 1);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).calls, 101);
  // It succeeded, so the next equal one is a call like any other.
  EXPECT_FALSE(IsLoop(Run(kTrace)));
}

TEST_F(AppLoopTest, ARetryOverTheBudgetIsRefusedWithTheMarkAndSoIsTheThird) {
  Upstream({failure_});
  Run(kTrace);
  SpendTheBudget();
  for (int i = 0; i < 2; ++i) {
    SimHost& retry = Run(kTrace);
    EXPECT_TRUE(retry.record().app_retry_refused);
    EXPECT_EQ(retry.attempts(), 0);
    EXPECT_EQ(retry.caller().code, StatusCode::kResourceExhausted);
    EXPECT_EQ(retry.caller().trailers.Get("levee-overload"),
              "service;reason=budget;upstream=cart;hops=1");
  }
}

TEST_F(AppLoopTest, AnotherMessageTraceOrConnectionIsAnotherCall) {
  Upstream({failure_});
  Run(kTrace);
  CallsBefore(1000);
  EXPECT_FALSE(IsLoop(Run(kTrace, kOtherMessage)));
  EXPECT_FALSE(IsLoop(Run({.trace = 2})));
  EXPECT_FALSE(IsLoop(Run(kConnection)));
  EXPECT_FALSE(IsLoop(Run(kConnection, kOtherMessage)));
  EXPECT_TRUE(IsLoop(Run(kConnection)));
  EXPECT_FALSE(IsLoop(Run({.connection = 2})));
  EXPECT_FALSE(IsLoop(Run({.trace = 3, .connection = 1})));
}

TEST_F(AppLoopTest, ACallThatSaysThatItIsARetryIsOneByItsHeader) {
  Upstream({failure_});
  CallsBefore(100);
  Run(kTrace);
  SimHost& retry = Begin(kTrace, {.previous_attempts = 1});
  EXPECT_EQ(retry.attempts(), 1);  // It waits for no message.
  retry.Send(kMessage, true);
  clock_.Run();
  EXPECT_EQ(retry.record().app_retry, AppRetrySign::kHeader);
}

TEST_F(AppLoopTest, AnAnswerOfTheApplicationIsNoFailure) {
  Upstream({TrailersOnly(StatusCode::kNotFound)});
  Run(kTrace);
  EXPECT_FALSE(IsLoop(Run(kTrace)));
}

TEST_F(AppLoopTest, CountAdmitsARetryOverTheBudgetAndIgnoreKnowsNone) {
  Upstream({failure_});
  retry_.app_retries_loops = AppRetries::kCount;
  Run(kTrace);
  SpendTheBudget();
  SimHost& counted = Run(kTrace);
  EXPECT_TRUE(IsLoop(counted));
  EXPECT_EQ(counted.attempts(), 1);
}

TEST_F(AppLoopTest, IgnoreKnowsNoLoop) {
  Upstream({failure_});
  retry_.app_retries_loops = AppRetries::kIgnore;
  Run(kTrace);
  EXPECT_FALSE(IsLoop(Run(kTrace)));
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).calls, 2);
}

TEST_F(AppLoopTest, ALoopIsTreatedNoHarderThanTheHeader) {
  Upstream({failure_});
  retry_.app_retries = AppRetries::kIgnore;
  Run(kTrace);
  EXPECT_FALSE(IsLoop(Run(kTrace)));
}

TEST_F(AppLoopTest, ACallWaitsForItsMessageOnlyIfOneOfItsKinFailed) {
  Upstream({failure_, Ok()});
  CallsBefore(100);
  SimHost& first = Begin(kTrace);
  EXPECT_EQ(first.attempts(), 1);
  first.Send(kMessage, true);
  clock_.RunFor(Ms(5));
  SimHost& second = Begin(kTrace);
  EXPECT_EQ(second.attempts(), 0);
  EXPECT_EQ(Begin({.trace = 2}).attempts(), 1);
  second.Send(kMessage.substr(0, 6));
  EXPECT_EQ(second.attempts(), 0);
  second.Send(kMessage.substr(6));
  EXPECT_EQ(second.attempts(), 1);
  second.HalfClose();
  clock_.RunFor(Ms(5));
  EXPECT_TRUE(IsLoop(second));
  EXPECT_EQ(second.attempt(1).received, kMessage);
  EXPECT_TRUE(second.attempt(1).half_closed);
}

TEST_F(AppLoopTest, ACallerThatWaitsForAnAnswerFirstIsNotHeldUp) {
  Upstream({failure_, Ok()});
  Run(kTrace);
  SimHost& silent = Begin(kTrace);
  clock_.RunFor(Ms(99));
  EXPECT_EQ(silent.attempts(), 0);
  clock_.RunFor(Ms(1));
  EXPECT_EQ(silent.attempts(), 1);
  clock_.RunFor(Ms(5));
  EXPECT_EQ(silent.caller().code, StatusCode::kOk);
  EXPECT_FALSE(silent.record().app_retry.has_value());
}

TEST_F(AppLoopTest, ACallThatWaitsForItsMessageEndsAsAnyOther) {
  Upstream({failure_});
  Run(kTrace);
  SimHost& cancelled = Begin(kTrace);
  cancelled.Leave();
  EXPECT_EQ(cancelled.caller().code, StatusCode::kCancelled);
  SimHost& late = Begin(kTrace, {.timeout = Ms(50)});
  SimHost& draining = Begin(kTrace);
  draining.DrainTimeout();
  EXPECT_EQ(draining.caller().code, StatusCode::kUnavailable);
  clock_.RunFor(Ms(50));
  EXPECT_EQ(late.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(late.attempts(), 0);
}

TEST_F(AppLoopTest, ACallOverARateLimitChargesNothing) {
  policy_.rate_limits.push_back({.name = "few", .per_second = 1});
  Upstream({failure_});
  Run(kTrace);
  const int64_t before = sidecar_.budget().Read(clock_.now()).retries;
  SimHost& limited = Run(kTrace);
  EXPECT_EQ(limited.record().rate_limit.refused_by, 0);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, before);
}

TEST_F(AppLoopTest, ACallThatRanIntoItsDeadlineHasFailed) {
  sidecar_.AddEndpoint(InTurn({Silence()}));
  SimHost& late = Begin(kTrace, {.timeout = Ms(20)});
  late.Send(kMessage, true);
  clock_.RunFor(Ms(20));
  EXPECT_EQ(late.caller().code, StatusCode::kDeadlineExceeded);
  SimHost& again = Begin(kTrace, {.timeout = Ms(20)});
  again.Send(kMessage, true);
  clock_.RunFor(Ms(20));
  EXPECT_TRUE(IsLoop(again));
}

// A poller without a trace id, whose upstream is away.
TEST_F(AppLoopTest, APollerIsNotRefused) {
  Upstream({failure_});
  SpendTheBudget();
  for (int i = 0; i < 60; ++i) {
    EXPECT_FALSE(Run(kConnection).record().app_retry_refused) << i;
    clock_.RunFor(Ms(495));
  }
}

// Even the polls of one trace find out in the end that the upstream is back.
TEST_F(AppLoopTest, RefusalsEndByThemselves) {
  std::vector<Answer> answers(2, failure_);
  answers.push_back(Ok());
  Upstream(answers);
  Run(kTrace);
  SpendTheBudget();
  int refused = 0;
  while (sidecar_.tally().ok == 0 && refused < 1000) {
    refused += Run(kTrace).record().app_retry_refused;
    clock_.RunFor(Ms(95));
  }
  EXPECT_LE(refused, 2 * FailedCalls::kRefusals);
  EXPECT_FALSE(IsLoop(Run(kTrace)));
}

}  // namespace
}  // namespace levee
