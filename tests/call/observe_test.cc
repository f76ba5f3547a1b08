// SPDX-License-Identifier: Apache-2.0
// A policy that only observes, and attempts that can hardly finish.
#include "call/call_fixture.h"

namespace levee {
namespace {

class CallObserve : public CallTest {
 protected:
  CallObserve() { retry_.mode = RetryMode::kObserve; }
};

TEST_F(CallObserve, ACallIsLeftAsItWouldBeWithoutThePolicy) {
  retry_.exhausted = ExhaustedMode::kAuto;
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "down", {{"x-more", "1"}}), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "down");
  EXPECT_EQ(call.caller().trailers.Get("x-more"), "1");
  EXPECT_FALSE(call.caller().trailers.Has("levee-overload"));
  EXPECT_EQ(call.record().refused, RefusalReason::kObserve);
}

TEST_F(CallObserve, TheBudgetDecidesAsIfRetriesWereMade) {
  retry_.exhausted = ExhaustedMode::kAuto;
  retry_.budget = {.ratio = 0.5, .floor_per_second = 0};
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  int observed = 0;
  int over_budget = 0;
  for (int i = 0; i < 20; ++i) {
    SimHost& call = RunUnary();
    observed += call.record().refused == RefusalReason::kObserve;
    over_budget += call.record().refused == RefusalReason::kBudget;
    EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  }
  EXPECT_EQ(observed, 10);
  EXPECT_EQ(over_budget, 10);
}

TEST_F(CallObserve, AsManyRetriesAreObservedAsWouldBeMade) {
  retry_.budget = {.burst_least = 1000};  // The window alone decides.
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  int observed = 0;
  for (int i = 0; i < 300; ++i) {
    observed += RunUnary().record().refused == RefusalReason::kObserve;
    clock_.RunFor(absl::Seconds(1));
  }
  // The floor counts until the first failures are known, and then the ratio alone.
  EXPECT_GE(observed, 20);
  EXPECT_LE(observed, 45);
}

TEST_F(CallObserve, WhatNeverLeftIsStillSentAgain) {
  Upstream({Answer().Unsent(Ms(1)), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallObserve, ARefusedStreamIsNotSentAgain) {
  Upstream({Answer().Reset(Ms(1), kResetRefusedStream), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kObserve);
}

TEST_F(CallObserve, AttemptTimeoutEndsNoCall) {
  retry_.attempt_timeout = Ms(50);
  Upstream({Answer().Trailers(Ms(200), StatusCode::kOk)});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallObserve, ResponseHeadersAreNotHeld) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(10), "pong").Trailers(Ms(10), StatusCode::kOk)});
  EXPECT_EQ(RunUnary().caller().head_at, Ms(1));
}

TEST_F(CallObserve, AnApplicationsRetryOverBudgetIsCarried) {
  retry_.budget = {.ratio = 0, .floor_per_second = 0};
  Upstream({Ok()});
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

class CallMinRemaining : public CallTest {
 protected:
  // Attempts are known to take 100 ms; the next call fails at once and is retried after 100 ms.
  CallMinRemaining() {
    std::vector<Answer> answers(10, Answer().Trailers(Ms(100), StatusCode::kOk));
    answers.push_back(Answer().Trailers(Ms(0), StatusCode::kUnavailable));
    answers.push_back(Answer().Trailers(Ms(0), StatusCode::kOk));
    Upstream(answers);
    for (int i = 0; i < 10; ++i) RunUnary();
  }
};

TEST_F(CallMinRemaining, A31_NoAttemptIsMadeThatCanHardlyFinish) {
  SimHost& call = RunUnary({.timeout = Ms(190)});
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kDeadline);
}

TEST_F(CallMinRemaining, A31_AnAttemptThatHasTheTimeIsMade) {
  EXPECT_EQ(RunUnary({.timeout = Ms(220)}).caller().code, StatusCode::kOk);
}

TEST_F(CallMinRemaining, A31_OffAnyTimeThatIsLeftIsEnough) {
  retry_.min_remaining = false;
  EXPECT_EQ(RunUnary({.timeout = Ms(110)}).caller().code, StatusCode::kOk);
}

}  // namespace
}  // namespace levee
