// SPDX-License-Identifier: Apache-2.0
// A shadow policy follows the calls of another one, and does nothing.
#include <optional>

#include "call/call_fixture.h"

namespace levee {

inline void PrintTo(ShadowOutcome outcome, std::ostream* out) {
  *out << ShadowOutcomeName(outcome);
}

namespace {

// The shadow begins as the same policy.
class CallShadow : public CallTest {
 protected:
  CallShadow() { sidecar_.shadow = policy_; }

  RetryPolicy& shadow() { return sidecar_.shadow->retry; }
  std::optional<ShadowOutcome> Outcome(const RequestFacts& facts = {}) {
    return RunUnary(facts).record().shadow;
  }
};

Answer PongAfter(int64_t ms) {
  return Answer().Head(Ms(ms)).Message(Ms(ms), "pong").Trailers(Ms(ms), StatusCode::kOk);
}
Answer TrailersAfter(int64_t ms, StatusCode code = StatusCode::kUnavailable) {
  return Answer().Trailers(Ms(ms), code, "scripted", {});
}

TEST_F(CallShadow, WithoutShadowACallHasNoOutcome) {
  sidecar_.shadow.reset();
  Upstream({TrailersAfter(1), PongAfter(1)});
  EXPECT_EQ(Outcome(), std::nullopt);
}

TEST_F(CallShadow, ACallThatSucceedsAtOnceIsTheSameForBoth) {
  shadow().max_attempts = 9;
  Upstream({PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
}

TEST_F(CallShadow, TheSamePolicyAgreesThroughAllAttempts) {
  Upstream({TrailersAfter(1)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.record().shadow, ShadowOutcome::kSame);
}

TEST_F(CallShadow, ACodeThatOnlyTheShadowRetriesIsOneAttemptMore) {
  shadow().codes = {StatusCode::kUnavailable, StatusCode::kAborted};
  Upstream({TrailersAfter(1, StatusCode::kAborted)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().shadow, ShadowOutcome::kMore);
}

TEST_F(CallShadow, ACodeThatOnlyThePolicyRetriesIsOneAttemptFewer) {
  shadow().codes = {StatusCode::kAborted};
  Upstream({TrailersAfter(1), PongAfter(1)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.record().shadow, ShadowOutcome::kFewer);
}

TEST_F(CallShadow, TheNumberOfAttemptsIsCompared) {
  shadow().max_attempts = 5;
  Upstream({TrailersAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kMore);
}

TEST_F(CallShadow, FewerAttemptsThanThoseThatWereNeededAreNotFewer) {
  shadow().max_attempts = 2;
  Upstream({TrailersAfter(1), PongAfter(1), TrailersAfter(1), TrailersAfter(1), PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
  EXPECT_EQ(Outcome(), ShadowOutcome::kFewer);
}

TEST_F(CallShadow, AShorterAttemptTimeoutWouldHaveRetriedWhatSucceeded) {
  shadow().attempt_timeout = Ms(100);
  Upstream({PongAfter(99), PongAfter(102)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
  EXPECT_EQ(Outcome(), ShadowOutcome::kMore);
}

TEST_F(CallShadow, AShorterAttemptTimeoutDoesNotSeeAnAnswerThatHasBegun) {
  shadow().attempt_timeout = Ms(100);
  Upstream({Answer().Head(Ms(50)).Message(Ms(60), "pong").Trailers(Ms(500), StatusCode::kOk)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
}

TEST_F(CallShadow, AShorterAttemptTimeoutWouldHaveRetriedWhatRanIntoTheDeadline) {
  shadow().attempt_timeout = Ms(100);
  Upstream({Silence()});
  EXPECT_EQ(Outcome({.timeout = Ms(1000)}), ShadowOutcome::kMore);
}

TEST_F(CallShadow, ALongerAttemptTimeoutWouldHaveWaited) {
  retry_.attempt_timeout = Ms(100);
  Upstream({Silence(), PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kFewer);
}

TEST_F(CallShadow, TheSameAttemptTimeoutIsTheSame) {
  retry_.attempt_timeout = shadow().attempt_timeout = Ms(100);
  Upstream({Silence(), PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
}

TEST_F(CallShadow, AShorterTimeoutOfTheCallEndsItsRetries) {
  sidecar_.shadow->timeout = Ms(50);
  Upstream({TrailersAfter(1), PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kFewer);
}

TEST_F(CallShadow, ItsBudgetIsItsOwn) {
  shadow().budget = {.ratio = 0, .floor_per_second = 0};
  Upstream({TrailersAfter(1), PongAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kFewer);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 1);
}

TEST_F(CallShadow, ARetryThatItRefusesCostsItsBudgetNothing) {
  retry_.budget = {.ratio = 0, .floor_per_second = 0, .wait = absl::ZeroDuration()};
  shadow().codes = {StatusCode::kAborted};
  Upstream({TrailersAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
}

TEST_F(CallShadow, AHedgeThatOnlyTheShadowMakesIsMore) {
  sidecar_.idempotent = true;
  sidecar_.shadow->hedge = HedgePolicy{.delay = Ms(50), .max_attempts = 2};
  Upstream({PongAfter(49), PongAfter(52)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kSame);
  EXPECT_EQ(Outcome(), ShadowOutcome::kMore);
}

TEST_F(CallShadow, AHedgeThatOnlyThePolicyMakesIsFewer) {
  sidecar_.idempotent = true;
  policy_.hedge = HedgePolicy{.delay = Ms(50), .max_attempts = 2};
  Upstream({PongAfter(80)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kFewer);
}

TEST_F(CallShadow, TheSameHedgesAreTheSame) {
  sidecar_.idempotent = true;
  policy_.hedge = sidecar_.shadow->hedge = HedgePolicy{.delay = Ms(50), .max_attempts = 3};
  Upstream({Silence()});
  SimHost& call = RunUnary({.timeout = Ms(400)});
  EXPECT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.record().shadow, ShadowOutcome::kSame);
}

TEST_F(CallShadow, ARetryThatTheCallerDoesNotWaitForIsTheSame) {
  Upstream({TrailersAfter(1)});
  EXPECT_EQ(Outcome({.timeout = Ms(50)}), ShadowOutcome::kSame);
}

TEST_F(CallShadow, WhatThePolicyOnlyObservesIsMore) {
  retry_.mode = RetryMode::kObserve;
  Upstream({TrailersAfter(1)});
  EXPECT_EQ(Outcome(), ShadowOutcome::kMore);
}

}  // namespace
}  // namespace levee
