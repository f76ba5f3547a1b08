// SPDX-License-Identifier: Apache-2.0
// Hedged calls: attempts beside each other, one answer.
#include <algorithm>

#include "call/call_fixture.h"

namespace levee {
namespace {

// Three attempts, 50 ms apart; every method is idempotent.
class CallHedging : public CallTest {
 protected:
  CallHedging() {
    sidecar_.idempotent = true;
    policy_.hedge = HedgePolicy{.delay = Ms(50), .max_attempts = 3};
    retry_.max_attempts = 1;
  }
  int64_t charged() { return sidecar_.budget().Read(clock_.now()).retries; }
  HedgePolicy& hedge() { return *policy_.hedge; }
};

Answer OkAfter(int64_t ms, std::string_view body = "pong") {
  return Answer().Head(Ms(ms)).Message(Ms(ms), body).Trailers(Ms(ms), StatusCode::kOk);
}
Answer FailAfter(int64_t ms, StatusCode code, const Answer::Fields& fields = {}) {
  return Answer().Trailers(Ms(ms), code, "scripted", fields);
}

TEST_F(CallHedging, A70_ACallThatIsAnsweredWithinTheDelayIsNotHedged) {
  Upstream({OkAfter(49)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(charged(), 0);
  EXPECT_FALSE(call.timer_armed());
}

TEST_F(CallHedging, A70_TheFirstGoodAnswerWinsAndTheOthersAreCancelled) {
  Upstream({OkAfter(500, "first"), OkAfter(20, "second"), OkAfter(1, "third")});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).start, Ms(50));
  EXPECT_EQ(call.caller().body, "second");
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, Ms(70));
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(70));
  EXPECT_EQ(call.record().attempts[0].code, StatusCode::kCancelled);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kHedge);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallHedging, A70_TheFirstAttemptMayWinAfterItWasHedged) {
  Upstream({OkAfter(60, "first"), OkAfter(200, "second")});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().body, "first");
  EXPECT_EQ(call.attempt(2).cancelled_at, Ms(60));
}

TEST_F(CallHedging, A70_AttemptsFollowEachOtherByTheDelayUpToTheirNumber) {
  Upstream({Silence()});
  SimHost& call = RunUnary({.timeout = Ms(400)});
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).start, Ms(50));
  EXPECT_EQ(call.attempt(3).start, Ms(100));
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
  EXPECT_EQ(call.attempt(3).previous_attempts, 2);
  EXPECT_EQ(call.attempt(3).timeout, Ms(300));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  for (AttemptId id = 1; id <= 3; ++id) EXPECT_EQ(call.attempt(id).cancelled_at, Ms(400));
}

TEST_F(CallHedging, AHedgeGoesToAnEndpointWhereNoAttemptRuns) {
  for (int i = 0; i < 3; ++i) sidecar_.AddEndpoint(InTurn({Silence()}));
  for (int i = 0; i < 20; ++i) {
    SimHost& call = RunUnary({.timeout = Ms(400)});
    ASSERT_EQ(call.attempts(), 3);
    EXPECT_NE(call.attempt(1).endpoint, call.attempt(2).endpoint);
    EXPECT_NE(call.attempt(1).endpoint, call.attempt(3).endpoint);
    EXPECT_NE(call.attempt(2).endpoint, call.attempt(3).endpoint);
  }
}

TEST_F(CallHedging, EveryAttemptGetsTheWholeRequest) {
  Upstream({Silence(), OkAfter(100)});
  SimHost& call = sidecar_.NewCall();
  call.Send("one ");
  clock_.RunFor(Ms(60));
  ASSERT_EQ(call.attempts(), 2);
  call.Send("two", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "one two");
  EXPECT_EQ(call.attempt(2).received, "one two");
  EXPECT_TRUE(call.attempt(1).half_closed);
  EXPECT_TRUE(call.attempt(2).half_closed);
  EXPECT_EQ(call.caller().credited, 7u);
}

TEST_F(CallHedging, ARequestThatOutgrowsTheBufferStaysWithItsFirstAttempt) {
  retry_.buffer_bytes = 4;
  Upstream({OkAfter(200, "first"), OkAfter(100, "second")});
  SimHost& call = sidecar_.NewCall();
  call.Send("one ");
  clock_.RunFor(Ms(60));
  ASSERT_EQ(call.attempts(), 2);
  call.Send("two", /*end=*/true);
  EXPECT_EQ(call.attempt(2).cancelled_at, Ms(60));
  clock_.Run();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).received, "one two");
  EXPECT_EQ(call.caller().body, "first");
  EXPECT_EQ(call.caller().credited, 7u);
}

TEST_F(CallHedging, A71_ANonFatalFailureStartsTheNextAttemptAtOnce) {
  Upstream({FailAfter(10, StatusCode::kUnavailable), OkAfter(5)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).start, Ms(10));
  EXPECT_EQ(call.caller().finished_at, Ms(15));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kStatus);
  EXPECT_EQ(charged(), 1);
}

TEST_F(CallHedging, A71_TheDelayBeginsAnewWithTheAttemptThatFollowsAFailure) {
  Upstream({FailAfter(40, StatusCode::kUnavailable), Silence(), OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).start, Ms(40));
  EXPECT_EQ(call.attempt(3).start, Ms(90));
}

TEST_F(CallHedging, A71_AFatalFailureEndsTheCallAndCancelsTheOthers) {
  Upstream({OkAfter(500), FailAfter(10, StatusCode::kInvalidArgument, {{"x-why", "size"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(60));
  EXPECT_EQ(call.caller().finished_at, Ms(60));
  EXPECT_EQ(call.caller().code, StatusCode::kInvalidArgument);
  EXPECT_EQ(call.caller().trailers.Get("x-why"), "size");
}

TEST_F(CallHedging, A71_AFailureThatTheHedgingPolicyDoesNotListIsFatal) {
  hedge().non_fatal = {StatusCode::kInternal};
  Upstream({FailAfter(1, StatusCode::kUnavailable), OkAfter(1)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
}

TEST_F(CallHedging, TheLastOfAllFailuresIsTheAnswer) {
  retry_.budget.wait = absl::ZeroDuration();
  Upstream({FailAfter(300, StatusCode::kUnavailable, {{"x-n", "1"}}),
            FailAfter(10, StatusCode::kUnavailable, {{"x-n", "2"}}),
            FailAfter(10, StatusCode::kUnavailable, {{"x-n", "3"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, Ms(60));
  EXPECT_EQ(call.caller().finished_at, Ms(300));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.Get("x-n"), "1");
  EXPECT_EQ(call.record().refused, RefusalReason::kMaxAttempts);
}

TEST_F(CallHedging, A72_ANegativePushbackStopsHedgingButNotWhatRuns) {
  const Answer no_more =
      FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "-1"}});
  Upstream({OkAfter(400), no_more, OkAfter(1)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, Ms(400));
  EXPECT_EQ(call.record().refused, RefusalReason::kPushback);
}

TEST_F(CallHedging, A72_ANegativePushbackOfTheOnlyAttemptEndsTheCall) {
  retry_.exhausted = ExhaustedMode::kAuto;
  Upstream({FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "-1"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().finished_at, Ms(10));
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
}

TEST_F(CallHedging, A72_APushbackPutsTheNextAttemptOff) {
  Upstream({Silence(), FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "200"}}),
            OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, Ms(60 + 200));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallHedging, AnAttemptThatWaitsForAPushbackIsTheNextOneWhateverElseFails) {
  Upstream({FailAfter(100, StatusCode::kUnavailable),
            FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "200"}}),
            OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, Ms(260));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(charged(), 2);
}

TEST_F(CallHedging, ANegativePushbackTakesBackAnAttemptThatWaits) {
  Upstream({FailAfter(100, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "-1"}}),
            FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "200"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().finished_at, Ms(100));
}

TEST_F(CallHedging, A72_NoHedgeStartsWhileAPushbackIsWaitedFor) {
  // The second attempt is told to wait; the first is refused meanwhile, and sent again at once.
  Upstream({Answer().Reset(Ms(70), kResetRefusedStream),
            FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "200"}}), Silence(),
            OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.attempt(3).start, Ms(70));
  EXPECT_EQ(call.attempt(4).start, Ms(260));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallHedging, A56_AnAttemptThatIsSentAgainKeepsItsNumber) {
  Upstream({Answer().Reset(Ms(70), kResetRefusedStream), Silence(), OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
  EXPECT_EQ(call.attempt(3).start, Ms(70));
  EXPECT_EQ(call.attempt(3).previous_attempts, 0);
}

TEST_F(CallHedging, AHeadThatWasHeldLongEnoughKeepsAHedgeFromStarting) {
  Upstream({Answer().Head(Ms(30)).Message(Ms(90), "slow").Trailers(Ms(90), StatusCode::kOk)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(charged(), 0);
}

TEST_F(CallHedging, AllHedgesMadeIsNoRefusal) {
  Upstream({FailAfter(60, StatusCode::kUnavailable), Silence(), OkAfter(100)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallHedging, MaxElapsedBoundsWhatAServerPutsOff) {
  retry_.backoff.max_elapsed = Ms(100);
  Upstream({FailAfter(10, StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "200"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kMaxElapsed);
}

TEST_F(CallHedging, A47_HedgesAreChargedToTheBudget) {
  Upstream({Silence()});
  RunUnary({.timeout = Ms(400)});
  EXPECT_EQ(charged(), 2);
}

TEST_F(CallHedging, WithoutBudgetACallKeepsItsOneAttempt) {
  retry_.budget.ratio = 0;
  retry_.budget.floor_per_second = 0;
  Upstream({OkAfter(400)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
}

TEST_F(CallHedging, AMethodThatIsNotIdempotentIsNeitherHedgedNorRetried) {
  sidecar_.idempotent = false;
  Upstream({FailAfter(400, StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
}

TEST_F(CallHedging, ThePercentileDelayIsThatOfRecentAttempts) {
  hedge().delay = Ms(0);
  hedge().quantile = 0.95;
  std::vector<Answer> answers(40, OkAfter(20));
  answers.push_back(Silence());
  answers.push_back(OkAfter(1));
  Upstream(answers);
  for (int i = 0; i < 40; ++i) ASSERT_EQ(RunUnary().attempts(), 1);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  const absl::Duration delay = call.attempt(2).start - call.attempt(1).start;
  EXPECT_GE(delay, Ms(20));
  EXPECT_LE(delay, Ms(20) * 1.125);
}

TEST_F(CallHedging, WhileNoPercentileIsKnownNothingIsHedged) {
  hedge().quantile = 0.95;
  Upstream({OkAfter(2000)});
  EXPECT_EQ(RunUnary().attempts(), 1);
}

TEST_F(CallHedging, AHeldHeadLosesToTheFirstMessage) {
  Upstream({Answer().Head(Ms(60)).Message(Ms(300), "slow").Trailers(Ms(300), StatusCode::kOk),
            OkAfter(15, "quick")});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().body, "quick");
  EXPECT_EQ(call.caller().finished_at, Ms(65));
}

TEST_F(CallHedging, AHeadThatWasHeldLongEnoughCommits) {
  Upstream({Answer().Head(Ms(60)).Message(Ms(300), "slow").Trailers(Ms(300), StatusCode::kOk),
            OkAfter(100, "quick")});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempt(2).cancelled_at, Ms(80));
  EXPECT_EQ(call.caller().head_at, Ms(80));
  EXPECT_EQ(call.caller().body, "slow");
}

TEST_F(CallHedging, ACallerThatLeavesCancelsEveryAttempt) {
  Upstream({Silence()});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(120));
  ASSERT_EQ(call.attempts(), 3);
  call.Leave();
  for (AttemptId id = 1; id <= 3; ++id) EXPECT_EQ(call.attempt(id).cancelled_at, Ms(120));
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
}

TEST_F(CallHedging, ARefusedHedgeIsSentOnceMoreAtOnce) {
  Upstream({Silence(), Answer().Reset(Ms(1), kResetRefusedStream), OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, Ms(51));
  EXPECT_EQ(call.attempt(3).previous_attempts, call.attempt(2).previous_attempts);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallHedging, AHedgeThatNeverLeftIsSentAgainFreeOfCharge) {
  Upstream({Silence(), Answer().Unsent(Ms(1)), OkAfter(1)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.record().attempts.size(), 2u);
  EXPECT_EQ(charged(), 1);
}

TEST_F(CallHedging, AttemptTimeoutEndsEachAttemptByItself) {
  retry_.attempt_timeout = Ms(120);
  Upstream({Silence(), Silence(), OkAfter(100)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(120));
  EXPECT_EQ(call.attempt(2).cancelled_at, Ms(170));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, Ms(200));
}

TEST_F(CallHedging, AHedgeThatCanHardlyFinishIsNotStarted) {
  Upstream([] {
    std::vector<Answer> answers(20, OkAfter(100));
    answers.push_back(Silence());
    return answers;
  }());
  hedge().delay = Ms(150);
  for (int i = 0; i < 20; ++i) RunUnary();
  SimHost& call = RunUnary({.timeout = Ms(200)});
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kDeadline);
}

TEST_F(CallHedging, APolicyThatObservesCountsAHedgeAndStartsNone) {
  retry_.mode = RetryMode::kObserve;
  Upstream({OkAfter(200)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kObserve);
}

}  // namespace
}  // namespace levee
