// SPDX-License-Identifier: Apache-2.0
// Deadlines, attempt timeouts, and callers that go away.
#include <vector>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallDeadline : public CallTest {};

// For five calls whose first attempt fails and whose retry is not answered.
std::vector<Answer> FiveTimesFailureThenSilence() {
  std::vector<Answer> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(TrailersOnly(StatusCode::kUnavailable));
    answers.push_back(Silence());
  }
  return answers;
}

TEST_F(CallDeadline, A21_TheDeadlineSpansAttemptsAndIsKeptToTheInstant) {
  Upstream(
      {TrailersOnly(StatusCode::kUnavailable), TrailersOnly(StatusCode::kUnavailable), Silence()});
  SimHost& call = RunUnary({.timeout = Ms(350)});
  EXPECT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.caller().finished_at, Ms(350));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "4");
  EXPECT_EQ(call.attempt(3).cancelled_at, Ms(350));
}

TEST_F(CallDeadline, A21_TheDeadlineEndsAnAnswerThatHasBegun) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "pong")});
  SimHost& call = RunUnary({.timeout = Ms(50)});
  EXPECT_EQ(call.caller().body, "pong");
  EXPECT_EQ(call.caller().finished_at, Ms(50));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
}

TEST_F(CallDeadline, A21_ThePolicysTimeoutBoundsTheCallersOne) {
  policy_.timeout = Ms(40);
  Upstream({Silence()});
  EXPECT_EQ(RunUnary({.timeout = Ms(50)}).caller().finished_at, Ms(40));
}

TEST_F(CallDeadline, A22_EachAttemptCarriesTheRemainingTime) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary({.timeout = Ms(350)});
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(1).timeout, Ms(350));
  EXPECT_EQ(call.attempt(2).timeout, Ms(350 - 101));
  EXPECT_EQ(call.attempt(3).timeout, Ms(350 - 302));
}

TEST_F(CallDeadline, A23_ABackoffBeyondTheDeadlineAnswersAtOnceAndUnchanged) {
  retry_.exhausted = ExhaustedMode::kAuto;
  Upstream({TrailersOnly(StatusCode::kUnavailable),
            Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no more")});
  SimHost& call = RunUnary({.timeout = Ms(150)});
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().finished_at, Ms(102));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "no more");
  EXPECT_FALSE(call.caller().trailers.Has("levee-overload"));
  EXPECT_EQ(call.record().refused, RefusalReason::kDeadline);
}

TEST_F(CallDeadline, A23_ABackoffThatEndsExactlyAtTheDeadlineIsBeyondIt) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary({.timeout = Ms(101)});
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kDeadline);
}

TEST_F(CallDeadline, A23_ARefusalForTheDeadlineCostsNoBudget) {
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  RunUnary({.timeout = Ms(50)});
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 0);
}

TEST_F(CallDeadline, A24_WithoutATimeoutInThereIsNoneOut) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempt(1).timeout, absl::InfiniteDuration());
  EXPECT_EQ(call.attempt(2).timeout, absl::InfiniteDuration());
}

TEST_F(CallDeadline, A24_AnIdleCallHasNoTimer) {
  Upstream({Silence()});
  EXPECT_FALSE(sidecar_.Unary().timer_armed());
}

TEST_F(CallDeadline, A25_ACallerThatLeavesInBackoffTakesTheTimerAlong) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(50));
  EXPECT_TRUE(call.timer_armed());
  call.Leave();
  EXPECT_FALSE(call.timer_armed());
  clock_.Run();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
}

TEST_F(CallDeadline, A26_ACallerThatLeavesInFlightCancelsTheAttemptAndNothingIsRetried) {
  Upstream({Answer().Trailers(Ms(80), StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.Unary({.timeout = Ms(300)});
  clock_.RunFor(Ms(50));
  call.Leave();
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
  clock_.Run();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().finished_at, Ms(50));
  EXPECT_EQ(call.record().attempts[0].code, StatusCode::kCancelled);
}

// The caller's clock started a little earlier, so its reset mostly comes before the timer is due.
TEST_F(CallDeadline, ACallerThatLeavesAtItsDeadlineHasSeenItPass) {
  Upstream({Silence()});
  SimHost& call = sidecar_.Unary({.timeout = Ms(300)});
  clock_.RunFor(Ms(298));
  call.Leave();
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(298));
  EXPECT_EQ(call.record().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.record().attempts[0].code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallDeadline, TheToleranceOfACallersDeadlineGrowsWithItsTimeout) {
  struct Case {
    int64_t timeout_ms, last_cancelled_ms, first_exceeded_ms;
  };
  for (const Case& given :
       {Case{10, 7, 8}, Case{100, 78, 79}, Case{1000, 969, 970}, Case{60'000, 59'379, 59'380}}) {
    for (const int64_t left_at : {given.last_cancelled_ms, given.first_exceeded_ms}) {
      SimClock clock;
      SimSidecar sidecar(clock, SectionAPolicy());
      sidecar.KeepCalls();
      sidecar.AddEndpoint(InTurn({Silence()}));
      SimHost& call = sidecar.Unary({.timeout = Ms(given.timeout_ms)});
      clock.RunFor(Ms(left_at));
      call.Leave();
      EXPECT_EQ(call.record().code == StatusCode::kDeadlineExceeded,
                left_at == given.first_exceeded_ms)
          << given.timeout_ms << " ms, left after " << left_at << " ms";
    }
  }
}

TEST_F(CallDeadline, ACallerThatLeavesAtItsDeadlineSpeaksIllOfASilentUpstreamAsTheTimerDoes) {
  retry_.budget.floor_min_success = 0.8;
  HasAnswered(sidecar_);
  Upstream(FiveTimesFailureThenSilence());
  for (int i = 0; i < 5; ++i) {
    SimHost& call = sidecar_.Unary({.timeout = Ms(300)});
    clock_.RunFor(Ms(299));
    call.Leave();
    ASSERT_EQ(call.attempts(), 2);
    EXPECT_EQ(call.attempt(2).judged, false);
  }
  EXPECT_TRUE(sidecar_.budget().Read(clock_.now()).floor_withheld);
}

TEST_F(CallDeadline, ACallerThatLeavesBeforeItsDeadlineSaysNothingAboutTheUpstream) {
  retry_.budget.floor_min_success = 0.8;
  Upstream(FiveTimesFailureThenSilence());
  for (int i = 0; i < 5; ++i) {
    SimHost& call = sidecar_.Unary({.timeout = Ms(300)});
    clock_.RunFor(Ms(200));
    call.Leave();
    ASSERT_EQ(call.attempts(), 2);
    EXPECT_EQ(call.attempt(2).judged, std::nullopt);
  }
  EXPECT_FALSE(sidecar_.budget().Read(clock_.now()).floor_withheld);
}

TEST_F(CallDeadline, AStreamThatTheCallersDeadlineEndsSpeaksNotIllOfItsEndpoint) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "news")});
  SimHost& call = sidecar_.Unary({.timeout = Ms(100)});
  clock_.RunFor(Ms(99));
  call.Leave();
  EXPECT_EQ(call.record().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.attempt(1).judged, std::nullopt);
}

TEST_F(CallDeadline, APolicysShorterTimeoutIsNoDeadlineOfTheCallers) {
  policy_.timeout = Ms(100);
  Upstream({Silence()});
  SimHost& call = sidecar_.Unary({.timeout = Ms(300)});
  clock_.RunFor(Ms(99));
  call.Leave();
  EXPECT_EQ(call.record().code, StatusCode::kCancelled);
}

TEST_F(CallDeadline, A26_ACallerThatLeavesDuringTheAnswerCancelsTheAttempt) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "pong").Message(Ms(80), "pong")});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(50));
  call.Leave();
  clock_.Run();
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
  EXPECT_EQ(call.caller().body, "pong");
}

TEST_F(CallDeadline, A27_ALostConnectionCancelsTheAttemptsOfAllItsCalls) {
  Upstream({Silence(), TrailersOnly(StatusCode::kUnavailable), Silence()});
  SimHost& in_flight = sidecar_.Unary();
  SimHost& in_backoff = sidecar_.Unary();
  SimHost& open = sidecar_.NewCall();
  clock_.RunFor(Ms(50));
  for (SimHost* call : {&in_flight, &in_backoff, &open}) call->Leave();
  EXPECT_EQ(in_flight.attempt(1).cancelled_at, Ms(50));
  EXPECT_EQ(open.attempt(1).cancelled_at, Ms(50));
  clock_.Run();
  EXPECT_EQ(sidecar_.tally().attempts, 3);
}

TEST_F(CallDeadline, A28_ALateAnswerOfAnAbandonedAttemptIsDropped) {
  retry_.attempt_timeout = Ms(50);
  Upstream({Answer().Head(Ms(160)).Trailers(Ms(161), StatusCode::kInternal),
            Answer().Head(Ms(20)).Message(Ms(30), "pong").Trailers(Ms(40), StatusCode::kOk)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
  EXPECT_EQ(call.attempt(1).dropped_events, 2);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().body, "pong");
  EXPECT_EQ(call.caller().head_at, Ms(150 + 20 + 10));
}

// A host may have queued such events before it was told to cancel.
TEST_F(CallDeadline, A28_TheCallItselfIgnoresEventsOfAnAbandonedAttempt) {
  retry_.attempt_timeout = Ms(50);
  retry_.commit = CommitMode::kHeaders;
  Upstream({Silence(), Answer().Head(Ms(20)).Trailers(Ms(20), StatusCode::kOk)});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(160));
  ASSERT_EQ(call.attempts(), 2);
  call.call().OnHead(1, clock_.now());
  call.call().OnMessage(1, Chunk(), clock_.now());
  call.call().OnAttemptEnd(1, {.code = StatusCode::kInternal}, clock_.now());
  EXPECT_FALSE(call.call().committed());
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, Ms(170));
}

TEST_F(CallDeadline, A28_AFinishedCallIgnoresEverything) {
  Upstream({TrailersOnly(StatusCode::kNotFound)});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(0));
  Call& finished = call.call();
  call.Leave();
  ASSERT_TRUE(finished.finished());
  finished.OnRequest(Chunk(), true, clock_.now());
  finished.OnHead(1, clock_.now());
  finished.OnMessage(1, Chunk(), clock_.now());
  finished.OnAttemptEnd(1, {.code = StatusCode::kUnavailable}, clock_.now());
  finished.OnTimer(clock_.now());
  finished.OnCallerGone(clock_.now());
  finished.OnDrainTimeout(clock_.now());
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
}

TEST_F(CallDeadline, A29_WhatIsExpiredOnArrivalNeverReachesTheUpstream) {
  Upstream({Ok()});
  SimHost& call = RunUnary({.timeout = absl::ZeroDuration()});
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().finished_at, Ms(0));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
}

TEST_F(CallDeadline, A29_ACallWithLessThanAMillisecondNeverReachesTheUpstream) {
  Upstream({Ok()});
  SimHost& call = RunUnary({.timeout = absl::Nanoseconds(1)});
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().finished_at, Ms(0));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).calls, 0);
}

TEST_F(CallDeadline, ACallWithLessTimeThanTheFastestAnswersTookNeverReachesTheUpstream) {
  std::vector<Answer> answers;
  for (int i = 0; i < 20; ++i) {
    const absl::Duration at = Ms(i < 2 ? 40 : 80);
    answers.push_back(Answer().Head(at).Message(at, "pong").Trailers(at, StatusCode::kOk));
  }
  Upstream(answers);
  for (int i = 0; i < 10; ++i) RunUnary({.timeout = Ms(200)});
  SimHost& hopeless = RunUnary({.timeout = Ms(30)});
  EXPECT_EQ(hopeless.attempts(), 0);
  EXPECT_EQ(hopeless.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(RunUnary({.timeout = Ms(45)}).attempts(), 1);
  sidecar_.latency() = LatencyEstimate();
  for (int i = 0; i < 10; ++i) sidecar_.latency().Record(Ms(3000), clock_.now());
  EXPECT_EQ(RunUnary({.timeout = Ms(49)}).attempts(), 0);
  EXPECT_EQ(RunUnary({.timeout = Ms(51)}).attempts(), 1);
  retry_.min_remaining = false;
  EXPECT_EQ(RunUnary({.timeout = Ms(30)}).attempts(), 1);
}

TEST_F(CallDeadline, AnUpstreamThatCancelsAboutWhenTheDeadlinePassesHasSeenItPass) {
  Upstream({Answer().Reset(Ms(96), kResetCancel), Answer().Trailers(Ms(96), StatusCode::kCancelled),
            Answer().Head(Ms(10)).Message(Ms(10), "pong").Reset(Ms(97), kResetCancel)});
  for (int i = 0; i < 3; ++i) {
    SimHost& call = RunUnary({.timeout = Ms(100)});
    EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
    EXPECT_EQ(call.record().code, StatusCode::kDeadlineExceeded);
    EXPECT_EQ(call.record().attempts[0].code, StatusCode::kDeadlineExceeded);
    EXPECT_EQ(call.attempts(), 1);
  }
}

TEST_F(CallDeadline, AnUpstreamThatCancelsEarlierHasCancelled) {
  Upstream({Answer().Reset(Ms(94), kResetCancel), Answer().Reset(Ms(7), kResetCancel),
            Answer().Trailers(Ms(96), StatusCode::kInternal)});
  EXPECT_EQ(RunUnary({.timeout = Ms(100)}).caller().code, StatusCode::kCancelled);
  EXPECT_EQ(RunUnary({.timeout = Ms(10)}).caller().code, StatusCode::kCancelled);
  EXPECT_EQ(RunUnary({.timeout = Ms(100)}).caller().code, StatusCode::kInternal);
}

TEST_F(CallDeadline, A30_AttemptTimeoutCancelsThatAttemptAndIsRetried) {
  retry_.attempt_timeout = Ms(50);
  Upstream({Silence(), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
  EXPECT_EQ(call.attempt(2).start, Ms(50 + 100));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kTimeout);
}

TEST_F(CallDeadline, A30_AttemptTimeoutIsNotRetriedUnlessItIsListed) {
  retry_.attempt_timeout = Ms(50);
  retry_.failures.timeout = false;
  Upstream({Silence(), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().finished_at, Ms(50));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
}

TEST_F(CallDeadline, A30_AttemptTimeoutIsRetriedForIdempotentCalls) {
  retry_.attempt_timeout = Ms(50);
  retry_.failures.timeout = false;
  policy_.idempotency = IdempotencyMode::kAlways;
  Upstream({Silence(), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallDeadline, A30_TheLastAttemptThatTimesOutIsDeadlineExceeded) {
  retry_.attempt_timeout = Ms(50);
  retry_.max_attempts = 2;
  Upstream({Silence()});
  SimHost& call = RunUnary({.timeout = Ms(500)});
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).cancelled_at, Ms(200));
  EXPECT_EQ(call.caller().finished_at, Ms(200));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
}

TEST_F(CallDeadline, A30_AttemptTimeoutDoesNotBoundAStreamThatHasBegun) {
  retry_.attempt_timeout = Ms(50);
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "pong").Trailers(Ms(500), StatusCode::kOk)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallDeadline, A30_AttemptTimeoutBoundsACallThatIsCommittedButNotAnswered) {
  retry_.attempt_timeout = Ms(50);
  retry_.buffer_bytes = 2;
  Upstream({Silence()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().finished_at, Ms(50));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.record().refused, RefusalReason::kBuffer);
}

TEST_F(CallDeadline, AStreamThatEndsWithItsDeadlineSpeaksNotIllOfItsEndpoint) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "news")});
  SimHost& call = RunUnary({.timeout = Ms(100)});
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.attempt(1).judged, std::nullopt);
}

TEST_F(CallDeadline, SilenceUntilTheDeadlineSpeaksIllOfAnEndpoint) {
  HasAnswered(sidecar_);
  Upstream({Silence()});
  EXPECT_EQ(RunUnary({.timeout = Ms(100)}).attempt(1).judged, false);
}

TEST_F(CallDeadline, ADrainThatCannotWaitEndsACallInFlight) {
  Upstream({Silence()});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(50));
  call.DrainTimeout();
  EXPECT_EQ(call.attempt(1).cancelled_at, Ms(50));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallDeadline, ADrainThatCannotWaitRefusesTheRetryOfACallInBackoff) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(50));
  call.DrainTimeout();
  clock_.Run();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kDraining);
}

}  // namespace
}  // namespace levee
