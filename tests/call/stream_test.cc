// SPDX-License-Identifier: Apache-2.0
// Calls that are streams: what bounds them, and what they do not count for.
#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallStream : public CallTest {
 protected:
  CallStream() {
    policy_.timeout = Ms(1000);
    retry_.max_attempts = 1;
  }

  // A call with a whole request.
  SimHost& Start(const RequestFacts& facts = {}, int method = 0) {
    SimHost& call = sidecar_.NewCall(facts, nullptr, {.method = method});
    call.Send(kMessage, /*end=*/true);
    return call;
  }
  static Answer Beats(int count, absl::Duration every) {
    Answer answer;
    answer.Head(Ms(10));
    for (int i = 0; i < count; ++i) answer.Message(Ms(10) + i * every, "beat");
    return answer;
  }
};

TEST_F(CallStream, E14_ATimeoutEndsAUnaryCall) {
  Upstream({Silence()});
  SimHost& call = Start();
  clock_.RunFor(Ms(2000));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().finished_at, Ms(1000));
  EXPECT_EQ(call.record().kind, CallKind::kUnary);
}

TEST_F(CallStream, E14_ATimeoutDoesNotEndAStreamThatLives) {
  Upstream({Beats(200, Ms(50)).Trailers(Ms(11'000), StatusCode::kOk)});
  SimHost& call = Start();
  clock_.RunFor(Ms(20'000));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, Ms(11'000));
  EXPECT_EQ(call.record().kind, CallKind::kStream);
}

TEST_F(CallStream, E14_AStreamThatIsQuietAfterItsFirstMessageLivesToo) {
  Upstream({Beats(1, Ms(0)).Trailers(Ms(60'000), StatusCode::kOk)});
  SimHost& call = Start();
  clock_.RunFor(Ms(70'000));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().kind, CallKind::kStream);
}

TEST_F(CallStream, E14_SoDoesOneWhoseFirstMessageComesRightBeforeTheTimeout) {
  Upstream({Answer().Head(Ms(990)).Message(Ms(990), "late").Trailers(Ms(5000), StatusCode::kOk)});
  SimHost& call = Start();
  clock_.RunFor(Ms(6000));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallStream, E14_AMethodThatWasAStreamIsOneFromTheStartOfLaterCalls) {
  Upstream(
      {Beats(2, Ms(5)).Trailers(Ms(100), StatusCode::kOk),
       Answer().Head(Ms(9000)).Message(Ms(9000), "event").Trailers(Ms(9500), StatusCode::kOk)});
  Start({}, /*method=*/7);
  clock_.RunFor(Ms(500));
  // Nothing comes of it for nine seconds.
  SimHost& quiet = Start({}, /*method=*/7);
  clock_.RunFor(Ms(10'000));
  EXPECT_EQ(quiet.caller().code, StatusCode::kOk);
}

TEST_F(CallStream, AStreamOfOneMessageThatEndsAtOnceIsUnaryUnlessThePreviousOneWasAStream) {
  Upstream({Ok(), Beats(2, Ms(5)).Trailers(Ms(20), StatusCode::kOk), Ok()});
  for (const CallKind kind :
       {CallKind::kUnary, CallKind::kStream, CallKind::kStream, CallKind::kUnary}) {
    SimHost& call = Start();
    clock_.RunFor(Ms(500));
    EXPECT_EQ(call.record().kind, kind);
  }
}

TEST_F(CallStream, AStreamOfOneMessageThatEndsAtOnceIsOneIfItsDescriptorSaysSo) {
  sidecar_.described = CallKind::kStream;
  Upstream({Ok()});
  SimHost& call = Start();
  clock_.RunFor(Ms(500));
  EXPECT_EQ(call.record().kind, CallKind::kStream);
}

TEST_F(CallStream, E14_AQuietCallOfAMethodNobodyKnowsEndsAtTheTimeout) {
  Upstream({Silence()});
  SimHost& call = Start();
  clock_.RunFor(Ms(2000));
  EXPECT_EQ(call.caller().finished_at, Ms(1000));
}

TEST_F(CallStream, E14_AnUploadOutlivesTheTimeoutAlsoAfterShortOnes) {
  Upstream({Ok(),
            Answer().Head(Ms(5000)).Message(Ms(5000), "done").Trailers(Ms(5000), StatusCode::kOk)});
  Start();  // of one message
  clock_.RunFor(Ms(500));
  SimHost& upload = sidecar_.NewCall();
  for (int i = 0; i < 3; ++i) upload.Send(kMessage);
  clock_.RunFor(Ms(4000));
  upload.HalfClose();
  clock_.RunFor(Ms(4000));
  EXPECT_EQ(upload.caller().code, StatusCode::kOk);
}

TEST_F(CallStream, TheCallersDeadlineBoundsAStream) {
  Upstream({Beats(200, Ms(50))});
  SimHost& call = Start({.timeout = Ms(3000)});
  clock_.RunFor(Ms(20'000));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().finished_at, Ms(3000));
  EXPECT_EQ(call.record().ended_by, std::nullopt);
}

TEST_F(CallStream, ThePolicysTimeoutIsToldOnlyWhereADescriptorSaysUnary) {
  Upstream({Silence()});
  EXPECT_EQ(Start().attempt(1).timeout, absl::InfiniteDuration());
  EXPECT_EQ(Start({.timeout = Ms(700)}).attempt(1).timeout, Ms(700));
  EXPECT_EQ(Start({.timeout = Ms(7000)}).attempt(1).timeout, Ms(7000));
  clock_.RunFor(Ms(10'000));
}

class CallDescribedUnary : public CallStream {
 protected:
  CallDescribedUnary() { sidecar_.described = CallKind::kUnary; }
};

TEST_F(CallDescribedUnary, TheUpstreamIsToldTheTimeout) {
  Upstream({Silence()});
  EXPECT_EQ(Start().attempt(1).timeout, Ms(1000));
  EXPECT_EQ(Start({.timeout = Ms(7000)}).attempt(1).timeout, Ms(1000));
  clock_.RunFor(Ms(10'000));
}

TEST_F(CallDescribedUnary, TheUpstreamIsToldTheAttemptsTimeoutAndWhatItEndsByThatIsRetried) {
  retry_.max_attempts = 2;
  retry_.attempt_timeout = Ms(200);
  sidecar_.idempotent = true;
  Upstream({TrailersOnly(StatusCode::kDeadlineExceeded).After(Ms(198)), Ok()});
  SimHost& call = Start();
  EXPECT_EQ(call.attempt(1).timeout, Ms(200));
  clock_.RunFor(Ms(900));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kTimeout);
}

TEST_F(CallDescribedUnary, MessagesThatComeDoNotMakeItAStream) {
  Upstream({Beats(100, Ms(50))});
  SimHost& call = Start();
  clock_.RunFor(Ms(5000));
  EXPECT_EQ(call.caller().finished_at, Ms(1000));
  EXPECT_EQ(call.record().kind, CallKind::kUnary);
}

TEST_F(CallStream, AStreamByItsDescriptorIsNotEndedThoughNothingComes) {
  sidecar_.described = CallKind::kStream;
  retry_.attempt_timeout = Ms(100);
  Upstream(
      {Answer().Head(Ms(9000)).Message(Ms(9000), "event").Trailers(Ms(9500), StatusCode::kOk)});
  SimHost& call = Start();
  EXPECT_EQ(call.attempt(1).timeout, absl::InfiniteDuration());
  clock_.RunFor(Ms(10'000));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.attempts(), 1);
}

TEST_F(CallStream, ItsOwnTimeoutEndsAStream) {
  policy_.stream.timeout = Ms(3000);
  Upstream({Beats(200, Ms(50))});
  SimHost& call = Start();
  clock_.RunFor(Ms(20'000));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().finished_at, Ms(3000));
  EXPECT_EQ(call.caller().message,
            "the stream has lasted for stream.timeout of policy \"section-a\"");
  EXPECT_EQ(call.record().ended_by, StreamBound::kTimeout);
}

TEST_F(CallStream, SilenceInBothDirectionsEndsAStreamThatHasABoundForIt) {
  policy_.stream.idle = Ms(300);
  Upstream({Beats(3, Ms(200))});
  SimHost& call = sidecar_.NewCall();
  call.Send(kMessage);
  clock_.RunFor(Ms(600));  // the last message came at 410
  EXPECT_FALSE(call.finished());
  call.Send(kMessage);
  clock_.RunFor(Ms(5000));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().finished_at, Ms(900));
  EXPECT_EQ(call.record().ended_by, StreamBound::kIdle);
}

TEST_F(CallStream, AStreamIsNoSampleOfLatency) {
  policy_.timeout = absl::InfiniteDuration();
  Upstream({Answer()
                .Head(Ms(5000))
                .Message(Ms(5000), "first")
                .Message(Ms(5001), "second")
                .Trailers(Ms(6000), StatusCode::kOk)});
  Start();
  clock_.RunFor(Ms(7000));
  EXPECT_EQ(sidecar_.latency().Quantile(0.5, clock_.now()), std::nullopt);
}

TEST_F(CallStream, AQuietStreamThatReachesItsDeadlineSpeaksIllOfNobody) {
  sidecar_.described = CallKind::kStream;
  Upstream({Silence()});
  SimHost& call = Start({.timeout = Ms(3000)});
  clock_.RunFor(Ms(5000));
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.attempt(1).judged, std::nullopt);
}

}  // namespace
}  // namespace levee
