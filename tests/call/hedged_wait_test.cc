// SPDX-License-Identifier: Apache-2.0
// Hedged calls of which a retry waits for the budget, while other attempts are under way.
#include "call/call_fixture.h"

namespace levee {
namespace {

// Up to four attempts, the second at once. The credit is enough for that one only, and a success
// pays for the next.
class CallHedgedWait : public CallTest {
 protected:
  CallHedgedWait() {
    sidecar_.idempotent = true;
    policy_.hedge = HedgePolicy{.delay = Ms(6), .max_attempts = 4};
    retry_.max_attempts = 1;
    retry_.budget = {.ratio = 1,
                     .window = absl::Seconds(10),
                     .floor_per_second = 0.2,
                     .floor_min_success = 0,
                     .burst_least = 2,
                     .wait = Ms(100)};
  }
  static Answer OkAfter(int64_t ms) {
    return Answer().Head(Ms(ms)).Message(Ms(ms), "pong").Trailers(Ms(ms), StatusCode::kOk);
  }
  static Answer FailAfter(int64_t ms, StatusCode code) {
    return Answer().Trailers(Ms(ms), code, "scripted");
  }
};

TEST_F(CallHedgedWait, TheSuccessOfAnAttemptThatEndsTheCallStartsNoOtherOfIt) {
  Upstream({FailAfter(10, StatusCode::kUnavailable), FailAfter(20, StatusCode::kNotFound)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kNotFound);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "5");
  ASSERT_EQ(call.record().waits.size(), 1u);
  EXPECT_EQ(call.record().waits[0].end, WaitEnd::kCancelled);
}

// The host has the trailers of the last attempt that ended only.
TEST_F(CallHedgedWait, TheAnswerIsThatOfTheLastAttemptIfNothingPays) {
  Upstream({FailAfter(10, StatusCode::kUnavailable), FailAfter(20, StatusCode::kUnavailable)});
  SimHost& call = RunUnary({.timeout = Ms(80)});
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "14");
}

// The place of the attempt that failed first is another's by the time its retry gives up waiting.
TEST_F(CallHedgedWait, ARetryThatNeverLeftMayTakeThePlaceOfOneWhoseRetryWaits) {
  Upstream({FailAfter(10, StatusCode::kUnavailable), Answer().Unsent(Ms(20)),
            FailAfter(10, StatusCode::kUnavailable)});
  SimHost& call = RunUnary({.timeout = Ms(80)});
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "14");
}

TEST_F(CallHedgedWait, WhatWasPaidForARetryOfACallThatHasEndedPaysForTheNextInLine) {
  retry_.budget.floor_per_second = 0.4;
  Upstream({FailAfter(10, StatusCode::kUnavailable), FailAfter(20, StatusCode::kNotFound),
            FailAfter(3, StatusCode::kUnavailable), OkAfter(1)});
  SimHost& first = sidecar_.Unary();
  clock_.RunFor(Ms(12));
  SimHost& second = sidecar_.Unary();
  clock_.Run();
  EXPECT_EQ(first.caller().code, StatusCode::kNotFound);
  EXPECT_EQ(first.attempts(), 2);
  EXPECT_EQ(second.caller().code, StatusCode::kOk);
  ASSERT_EQ(second.attempts(), 2);
  EXPECT_EQ(second.attempt(2).start, *first.caller().finished_at);
  ASSERT_EQ(second.record().waits.size(), 1u);
  EXPECT_EQ(second.record().waits[0].end, WaitEnd::kReleased);
}

}  // namespace
}  // namespace levee
