// SPDX-License-Identifier: Apache-2.0
// From where on an answer is the caller's.
#include <string_view>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallCommit : public CallTest {
 protected:
  // A call whose caller keeps its half open, run to its end.
  SimHost& RunOpen() {
    SimHost& call = sidecar_.NewCall();
    call.Send("ping");
    clock_.Run();
    return call;
  }
};

Answer HeadThenUnavailable(absl::Duration trailers_at) {
  return Answer().Head(Ms(1)).Trailers(trailers_at, StatusCode::kUnavailable);
}

TEST_F(CallCommit, A8_HeadWhileTheCallerIsOpenCommits) {
  Upstream({HeadThenUnavailable(Ms(2)), Ok()});
  SimHost& call = RunOpen();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(1));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kCommitted);
}

TEST_F(CallCommit, A8_TrailersWithinHoldAreRetriedOnceTheCallerHasHalfClosed) {
  Upstream({HeadThenUnavailable(Ms(20)), Ok("pong")});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().head_at, Ms(20 + 100 + 1));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().body, "pong");
}

TEST_F(CallCommit, A8_TrailersAfterHoldAreNotRetried) {
  Upstream({HeadThenUnavailable(Ms(22)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(21));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kCommitted);
}

TEST_F(CallCommit, A8_WithCommitHeadersAHeadAlwaysCommits) {
  retry_.commit = CommitMode::kHeaders;
  Upstream({HeadThenUnavailable(Ms(1)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(1));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
}

TEST_F(CallCommit, A8_TheHeadOfTheLastAttemptIsHeldTooSoThatItsFailureCanBeMarked) {
  retry_.max_attempts = 2;
  retry_.exhausted = ExhaustedMode::kReplace;
  Upstream({HeadThenUnavailable(Ms(5))});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.caller().head_at, std::nullopt);
  EXPECT_EQ(call.record().refused, RefusalReason::kMaxAttempts);
}

TEST_F(CallCommit, A8_APolicyWithoutRetriesHoldsNothing) {
  retry_.max_attempts = 1;
  Upstream({HeadThenUnavailable(Ms(5))});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().head_at, Ms(1));
}

TEST_F(CallCommit, A9_AfterAMessageNothingIsRetried) {
  Upstream(
      {Answer().Head(Ms(1)).Message(Ms(2), "half an ans").Trailers(Ms(3), StatusCode::kUnavailable),
       Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(2));
  EXPECT_EQ(call.caller().body, "half an ans");
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kCommitted);
}

TEST_F(CallCommit, A9_AConnectionLostInMidAnswerIsNotRetried) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "half an ans").ConnectionLost(Ms(3)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().body, "half an ans");
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "the connection to the upstream was lost");
}

TEST_F(CallCommit, A9_AnUnlistedFailureAfterAMessageIsNoRefusedRetry) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(2), "x").Trailers(Ms(3), StatusCode::kDataLoss)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kDataLoss);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallCommit, A10_HeadersThenAnEmptyEndIsAnAnswerWithoutStatus) {
  Upstream({Answer().Head(Ms(1)).EndWithoutStatus(Ms(2)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(2));
  EXPECT_EQ(call.caller().code, StatusCode::kUnknown);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "2");
}

TEST_F(CallCommit, A10_AnAnswerWithoutStatusIsRetriedIfUnknownIsListed) {
  retry_.codes = {StatusCode::kUnknown};
  Upstream({Answer().Head(Ms(1)).EndWithoutStatus(Ms(2)), Ok()});
  EXPECT_EQ(RunUnary().attempts(), 2);
}

TEST_F(CallCommit, A11_Http503IsAFailedAttemptThatIsRetriedAsUnavailable) {
  Upstream({Answer().Http(Ms(1), 503), Ok("pong")});
  SimHost& call = RunOpen();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().body, "pong");
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kHttp);
}

TEST_F(CallCommit, A11_WithoutCodesHttp503ReachesTheCallerAsTrailersOnlyUnavailable) {
  retry_.codes = {};
  Upstream({Answer().Http(Ms(1), 503), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, std::nullopt);
  EXPECT_EQ(call.caller().body, "");
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "14");
}

TEST_F(CallCommit, A12_InformationalHeadsCommitNothing) {
  Upstream({Answer().Informational(Ms(1)).Trailers(Ms(50), StatusCode::kUnavailable), Ok()});
  SimHost& call = RunOpen();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().head_at, Ms(50 + 100 + 1));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallCommit, A20_AHeldHeadIsForwardedAfterHold) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(50), "late").Trailers(Ms(60), StatusCode::kOk)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().head_at, Ms(1 + 20));
  EXPECT_EQ(call.caller().body, "late");
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallCommit, A20_AHeldHeadIsForwardedWithTheFirstMessage) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(7), "pong").Trailers(Ms(60), StatusCode::kOk)});
  EXPECT_EQ(RunUnary().caller().head_at, Ms(7));
}

TEST_F(CallCommit, A20_AHeldHeadIsForwardedWithTrailersThatAreNotRetried) {
  Upstream({Answer().Head(Ms(1)).Trailers(Ms(7), StatusCode::kNotFound, "", {{"x-a", "b"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().head_at, Ms(7));
  EXPECT_EQ(call.caller().code, StatusCode::kNotFound);
  EXPECT_EQ(call.caller().trailers.Get("x-a"), "b");
}

TEST_F(CallCommit, A20_ABidirectionalCallerThatWaitsForHeadersIsNeverHeld) {
  Upstream({Answer().Head(Ms(1)).Message(Ms(50), "pong").Trailers(Ms(60), StatusCode::kOk)});
  SimHost& call = sidecar_.NewCall();
  clock_.RunFor(Ms(1));
  EXPECT_EQ(call.caller().head_at, Ms(1));
  call.Send("ping", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "ping");
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallCommit, A20_WithoutABoundTheHeadIsHeldUntilTheAnswerGoesOn) {
  retry_.hold = absl::InfiniteDuration();
  Upstream({HeadThenUnavailable(absl::Hours(1)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

}  // namespace
}  // namespace levee
