// SPDX-License-Identifier: Apache-2.0
// The request, kept for the next attempt: what is kept, how long, and that it arrives unchanged.
#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallReplay : public CallTest {
 protected:
  int64_t kept() { return sidecar_.replay().used(); }
};

TEST_F(CallReplay, A13_ABodyOfExactlyTheLimitIsReplayed) {
  retry_.buffer_bytes = 8;
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.Unary({}, "12345678");
  clock_.Run();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).received, "12345678");
  EXPECT_TRUE(call.attempt(2).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallReplay, A13_OneByteMoreIsSentOnAndNotReplayed) {
  retry_.buffer_bytes = 8;
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.Unary({}, "123456789");
  clock_.Run();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.attempt(1).received, "123456789");
  EXPECT_TRUE(call.attempt(1).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kBuffer);
}

TEST_F(CallReplay, A14_AStreamThatCrossesTheLimitCommitsAndGoesOn) {
  retry_.buffer_bytes = 8;
  Upstream({Answer().Head(Ms(5)).Message(Ms(5), "pong").Trailers(Ms(9), StatusCode::kOk)});
  SimHost& call = sidecar_.NewCall();
  call.Send("1234");
  call.Send("5678");
  EXPECT_EQ(kept(), 8);
  call.Send("9");
  EXPECT_EQ(kept(), 0);
  clock_.RunFor(Ms(2));
  call.Send("abc", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "123456789abc");
  EXPECT_TRUE(call.attempt(1).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallReplay, A14_AfterTheLimitNothingIsRetried) {
  retry_.buffer_bytes = 8;
  retry_.exhausted = ExhaustedMode::kAuto;
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.NewCall();
  call.Send("123456789");
  clock_.Run();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kBuffer);
  EXPECT_FALSE(call.caller().trailers.Has("levee-overload"));
}

TEST_F(CallReplay, A15_CrossingTheLimitDuringBackoffCommitsTheNextAttempt) {
  retry_.buffer_bytes = 8;
  Upstream({TrailersOnly(StatusCode::kUnavailable), TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.NewCall();
  call.Send("1234");
  clock_.RunFor(Ms(50));
  call.Send("56789");
  call.Send("abc");
  call.HalfClose();
  clock_.Run();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).received, "123456789abc");
  EXPECT_TRUE(call.attempt(2).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kBuffer);
}

TEST_F(CallReplay, A15_WhatDoesNotFitIsNotCreditedBeforeAnAttemptTakesIt) {
  retry_.buffer_bytes = 8;
  Upstream({TrailersOnly(StatusCode::kUnavailable), Answer().ReadOnly(6).ReadOn(Ms(10), 100)});
  SimHost& call = sidecar_.NewCall();
  call.Send("1234");
  clock_.RunFor(Ms(50));
  call.Send("56789");
  EXPECT_EQ(call.caller().credited, 4u);
  clock_.RunFor(Ms(51));
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().credited, 6u);
  clock_.RunFor(Ms(10));
  EXPECT_EQ(call.caller().credited, 9u);
}

TEST_F(CallReplay, A16_WithoutReplayMemoryTheRequestIsSentUnbufferedAndCounted) {
  sidecar_.replay_bytes = 10;
  Upstream({Silence(), TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& first = sidecar_.NewCall();
  first.Send("12345678");
  SimHost& second = sidecar_.NewCall();
  second.Send("abc", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(second.attempts(), 1);
  EXPECT_EQ(second.attempt(1).received, "abc");
  EXPECT_TRUE(second.attempt(1).half_closed);
  EXPECT_EQ(second.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(second.record().refused, RefusalReason::kBuffer);
  EXPECT_TRUE(second.record().replay_memory_full);
  EXPECT_EQ(kept(), 8);
}

TEST_F(CallReplay, A16_TheCallsOwnLimitIsNotCountedAsMemoryFull) {
  retry_.buffer_bytes = 2;
  Upstream({Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_FALSE(call.record().replay_memory_full);
}

TEST_F(CallReplay, A17_ACommitInMidReplayLetsTheReplayFinish) {
  Upstream({TrailersOnly(StatusCode::kUnavailable),
            Answer().ReadOnly(3).Head(Ms(2)).ReadOn(Ms(5), 100).Trailers(Ms(9), StatusCode::kOk)});
  SimHost& call = sidecar_.NewCall();
  call.Send("1234");
  call.Send("5678");
  clock_.RunFor(Ms(103));
  EXPECT_EQ(call.caller().head_at, Ms(103));
  EXPECT_EQ(call.attempt(2).received, "123");
  EXPECT_EQ(kept(), 0);
  call.Send("9", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.attempt(2).received, "123456789");
  EXPECT_TRUE(call.attempt(2).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallReplay, A18_TheReplayIsTheOriginalAndNewerMessagesFollow) {
  Upstream({Answer().Trailers(Ms(10), StatusCode::kUnavailable),
            Answer().Trailers(Ms(10), StatusCode::kUnavailable),
            Answer().Trailers(Ms(10), StatusCode::kOk)});
  SimHost& call = sidecar_.NewCall();
  call.Send("first ");
  call.Send("second ");
  clock_.RunFor(Ms(50));
  call.Send("in backoff ");
  clock_.RunFor(Ms(65));
  ASSERT_EQ(call.attempts(), 2);
  call.Send("in flight ");
  clock_.RunFor(Ms(206));
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_FALSE(call.attempt(3).half_closed);
  call.Send("last", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "first second ");
  EXPECT_EQ(call.attempt(2).received, "first second in backoff in flight ");
  EXPECT_EQ(call.attempt(3).received, "first second in backoff in flight last");
  EXPECT_TRUE(call.attempt(3).half_closed);
  EXPECT_EQ(call.caller().credited, call.caller().sent.size());
}

TEST_F(CallReplay, A18_AnEmptyRequestIsReplayedAsItsEndAlone) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.NewCall();
  call.HalfClose();
  clock_.Run();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).received, "");
  EXPECT_TRUE(call.attempt(2).half_closed);
}

TEST_F(CallReplay, A18_AnEndThatComesDuringBackoffIsReplayed) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = sidecar_.NewCall();
  call.Send("ping");
  clock_.RunFor(Ms(50));
  call.HalfClose();
  clock_.Run();
  EXPECT_FALSE(call.attempt(1).half_closed);
  EXPECT_EQ(call.attempt(2).received, "ping");
  EXPECT_TRUE(call.attempt(2).half_closed);
}

TEST_F(CallReplay, A19_ReplayMemoryIsZeroAfterSuccess) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  sidecar_.Unary();
  clock_.RunFor(Ms(50));
  EXPECT_EQ(kept(), 4);
  clock_.Run();
  EXPECT_EQ(kept(), 0);
}

TEST_F(CallReplay, A19_ReplayMemoryIsZeroAfterTheLastFailure) {
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  RunUnary();
  EXPECT_EQ(kept(), 0);
}

TEST_F(CallReplay, A19_ReplayMemoryIsZeroAfterTheDeadline) {
  Upstream({Silence()});
  RunUnary({.timeout = Ms(50)});
  EXPECT_EQ(kept(), 0);
}

TEST_F(CallReplay, A19_ReplayMemoryIsZeroOnceTheCallerHasGone) {
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(50));
  call.Leave();
  EXPECT_EQ(kept(), 0);
}

TEST_F(CallReplay, A19_ReplayMemoryIsZeroFromTheCommitOn) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "pong").Trailers(Ms(9), StatusCode::kOk)});
  sidecar_.Unary();
  clock_.RunFor(Ms(1));
  EXPECT_EQ(kept(), 4);
  clock_.RunFor(Ms(1));
  EXPECT_EQ(kept(), 0);
}

}  // namespace
}  // namespace levee
