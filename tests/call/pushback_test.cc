// SPDX-License-Identifier: Apache-2.0
// grpc-retry-pushback-ms: the server's word on when to retry.
#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallPushback : public CallTest {
 protected:
  // The upstream fails once with this pushback, then answers OK.
  SimHost& RunWith(const std::string& pushback) {
    Upstream({Unavailable(pushback), Ok()});
    return RunUnary();
  }

  static Answer Unavailable(const std::string& pushback) {
    return TrailersOnly(StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", pushback}});
  }
};

TEST_F(CallPushback, A33_APushbackOf1000IsExactly1000Milliseconds) {
  SimHost& call = RunWith("1000");
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).start, Ms(1 + 1000));
}

TEST_F(CallPushback, A33_JitterDoesNotTouchAPushback) {
  retry_.backoff.jitter = Jitter::kFull;
  EXPECT_EQ(RunWith("1000").attempt(2).start, Ms(1 + 1000));
}

TEST_F(CallPushback, A33_APushbackMayBeLongerThanTheLongestBackoff) {
  EXPECT_EQ(RunWith("5000").attempt(2).start, Ms(1 + 5000));
}

TEST_F(CallPushback, A34_APushbackOfZeroRetriesAtOnce) {
  SimHost& call = RunWith("0");
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).start, Ms(1));
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
}

TEST_F(CallPushback, A35_TheFailureAfterAPushbackStartsAgainAtInitial) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Unavailable("1000"),
            TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.attempt(2).start, Ms(1 + 100));
  EXPECT_EQ(call.attempt(3).start, Ms(102 + 1000));
  EXPECT_EQ(call.attempt(4).start, Ms(1103 + 100));
}

TEST_F(CallPushback, A36_ANegativePushbackEndsRetrying) {
  SimHost& call = RunWith("-1");
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kPushback);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 0);
}

TEST_F(CallPushback, A36_ANegativePushbackIsNoBarIfTheSignalIsNotHonoured) {
  sidecar_.overload.honor.pushback = false;
  EXPECT_EQ(RunWith("-1").attempts(), 2);
}

TEST_F(CallPushback, A37_WhatIsNoNumberEndsRetrying) {
  for (const char* value : {"xxx", "", "1.5", "2147483648", " 1", "1 ", "+1", "0x10"}) {
    SCOPED_TRACE(value);
    SimClock clock;
    SimSidecar sidecar(clock, SectionAPolicy());
    sidecar.KeepCalls();
    sidecar.AddEndpoint(InTurn({Unavailable(value), Ok()}));
    SimHost& call = sidecar.Unary();
    clock.Run();
    EXPECT_EQ(call.attempts(), 1);
    EXPECT_EQ(call.record().refused, RefusalReason::kPushback);
  }
}

TEST_F(CallPushback, A38_TwoPushbacksEndRetrying) {
  Upstream({TrailersOnly(StatusCode::kUnavailable,
                         {{"grpc-retry-pushback-ms", "10"}, {"grpc-retry-pushback-ms", "10"}}),
            Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().refused, RefusalReason::kPushback);
}

TEST_F(CallPushback, A39_APushbackOnACommittedFailureIsForwardedAndNothingElse) {
  retry_.exhausted = ExhaustedMode::kAuto;
  Upstream({Answer()
                .Head(Ms(1))
                .Message(Ms(1), "x")
                .Trailers(Ms(2), StatusCode::kUnavailable, "", {{"grpc-retry-pushback-ms", "-1"}}),
            Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(call.caller().trailers.size(), 2u);
}

TEST_F(CallPushback, A39_APushbackOnAnUnlistedFailureIsForwardedAndNothingElse) {
  retry_.exhausted = ExhaustedMode::kAuto;
  for (const char* value : {"10", "-1", "xxx"}) {
    SCOPED_TRACE(value);
    SimClock clock;
    SimSidecar sidecar(clock, policy_);
    sidecar.KeepCalls();
    sidecar.AddEndpoint(
        InTurn({TrailersOnly(StatusCode::kNotFound, {{"grpc-retry-pushback-ms", value}}), Ok()}));
    SimHost& call = sidecar.Unary();
    clock.Run();
    EXPECT_EQ(call.attempts(), 1);
    EXPECT_EQ(call.caller().code, StatusCode::kNotFound);
    EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), value);
    EXPECT_EQ(call.caller().trailers.size(), 2u);
    EXPECT_EQ(call.record().refused, std::nullopt);
  }
}

TEST_F(CallPushback, A39_APushbackOnASuccessIsForwarded) {
  Upstream({Answer()
                .Head(Ms(1))
                .Message(Ms(1), "pong")
                .Trailers(Ms(1), StatusCode::kOk, "", {{"grpc-retry-pushback-ms", "10"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "10");
}

}  // namespace
}  // namespace levee
