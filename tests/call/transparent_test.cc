// SPDX-License-Identifier: Apache-2.0
// Attempts that were surely not processed: sent again at once, outside the policy's count.
#include "call/call_fixture.h"

namespace levee {
namespace {

class CallTransparent : public CallTest {
 protected:
  int64_t charged() { return sidecar_.budget().Read(clock_.now()).retries; }
};

TEST_F(CallTransparent, A52_AStreamThatWasNeverWrittenIsNoAttemptAndGoesElsewhere) {
  const Service script = InTurn({Answer().Unsent(Ms(1)), Ok()});
  sidecar_.AddEndpoint(script);
  sidecar_.AddEndpoint(script);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).received, "");
  EXPECT_EQ(call.attempt(2).received, "ping");
  EXPECT_EQ(call.attempt(2).start, Ms(1));
  EXPECT_EQ(call.attempt(2).previous_attempts, 0);
  EXPECT_NE(call.attempt(2).endpoint, call.attempt(1).endpoint);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.record().attempts.size(), 1u);
  EXPECT_EQ(charged(), 0);
}

TEST_F(CallTransparent, A52_AStreamThatWasNeverWrittenNeedsNoBudget) {
  retry_.max_attempts = 1;
  retry_.budget.ratio = 0;
  retry_.budget.floor_per_second = 0;
  Upstream({Answer().Unsent(Ms(1)), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallTransparent, A52_ARetryThatWasNeverWrittenIsChargedOnceAndKeepsItsNumber) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Answer().Unsent(Ms(1)), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
  EXPECT_EQ(call.attempt(3).previous_attempts, 1);
  EXPECT_EQ(call.record().attempts.size(), 2u);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kStatus);
  EXPECT_EQ(charged(), 1);
}

TEST_F(CallTransparent, A52_StreamsThatAreNeverWrittenDoNotGoOnForEver) {
  retry_.failures.connect = false;
  Upstream({Answer().Unsent(Ms(1))});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 6);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().attempts.size(), 1u);
}

TEST_F(CallTransparent, A53_RefusedStreamIsRetriedOnceAtOnceThenThePolicyDecides) {
  Upstream({RefusedStream(), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).start, Ms(1));
  EXPECT_EQ(call.attempt(3).start, Ms(2 + 100));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_TRUE(call.record().attempts[1].transparent);
  EXPECT_FALSE(call.record().attempts[2].transparent);
}

TEST_F(CallTransparent, A53_AStreamThatWasNeverWrittenLeavesTheImmediateRetryUnused) {
  Upstream({Answer().Unsent(Ms(1)), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, Ms(2));
}

TEST_F(CallTransparent, A53_TheSecondRefusalEndsTheCallIfThePolicyDoesNotListIt) {
  retry_.failures.refused = false;
  Upstream({RefusedStream(), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "the upstream refused the stream");
}

TEST_F(CallTransparent, A47_ATransparentRetryIsFreeWhileFewStreamsAreRefused) {
  Upstream({RefusedStream(), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
  EXPECT_EQ(charged(), 0);
}

TEST_F(CallTransparent, A47_WithoutBudgetAServerThatRefusesAllStreamsSeesFewOfThemAgain) {
  retry_.budget.ratio = 0;
  retry_.budget.floor_per_second = 0;
  Upstream({RefusedStream()});
  for (int i = 0; i < 100; ++i) RunUnary();
  // Ten of the last 20 attempts are refused after five calls of two attempts each.
  EXPECT_EQ(sidecar_.tally().attempts, 100 + 5);
  EXPECT_EQ(RunUnary().record().refused, RefusalReason::kBudget);
}

TEST_F(CallTransparent, ATransparentRetryBehindAGoAwayIsFreeHoweverManyThereAre) {
  retry_.budget.ratio = 0;
  retry_.budget.floor_per_second = 0;
  Upstream({Answer().GoAwayExcluding(Ms(1)), Ok()});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
  EXPECT_EQ(charged(), 0);
}

TEST_F(CallTransparent, A54_AGoAwayThatExcludesTheStreamIsLikeRefusedStream) {
  Upstream({Answer().GoAwayExcluding(Ms(1)), Answer().GoAwayExcluding(Ms(1)), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(2).start, Ms(1));
  EXPECT_EQ(call.attempt(3).start, Ms(2 + 100));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallTransparent, A55_AConnectionLostAfterTheRequestLeftIsAReset) {
  Upstream({Answer().ConnectionLost(Ms(1)), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).start, Ms(1 + 100));
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kReset);
}

TEST_F(CallTransparent, A55_AResetIsNotRetriedUnlessItIsListed) {
  retry_.failures.reset = false;
  Upstream({Answer().ConnectionLost(Ms(1)), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallTransparent, A56_ATransparentRetryCountsNeitherInMaxAttemptsNorInTheHeader) {
  Upstream({RefusedStream(), TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 5);
  EXPECT_EQ(call.attempt(1).previous_attempts, 0);
  EXPECT_EQ(call.attempt(2).previous_attempts, 0);
  EXPECT_EQ(call.attempt(3).previous_attempts, 1);
  EXPECT_EQ(call.attempt(4).previous_attempts, 2);
  EXPECT_EQ(call.attempt(5).previous_attempts, 3);
}

TEST_F(CallTransparent, A56_ATransparentRetryLateInTheCallKeepsTheNumberOfItsAttempt) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, call.attempt(2).start + Ms(1));
  EXPECT_EQ(call.attempt(3).previous_attempts, 1);
}

TEST_F(CallTransparent, A57_ATransparentRetryNeedsNoSecondAttempt) {
  retry_.max_attempts = 1;
  retry_.failures = {.refused = false, .connect = false};
  Upstream({RefusedStream(), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

TEST_F(CallTransparent, A57_WithOneAttemptTheSecondRefusalIsTheLast) {
  retry_.max_attempts = 1;
  Upstream({RefusedStream(), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.record().refused, RefusalReason::kMaxAttempts);
}

TEST_F(CallTransparent, A58_RefusedStreamAfterHeadersWereForwardedIsNotRetried) {
  Upstream({Answer().Head(Ms(1)).Reset(Ms(30), kResetRefusedStream), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().head_at, Ms(21));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, RefusalReason::kCommitted);
}

// A server that has answered has processed something, whatever its error code says.
TEST_F(CallTransparent, A58_RefusedStreamAfterHeldHeadersIsAReset) {
  retry_.failures.reset = false;
  Upstream({Answer().Head(Ms(1)).Reset(Ms(2), kResetRefusedStream), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallTransparent, A58_AHeadOfAnEarlierAttemptMakesNoResetOfALaterRefusal) {
  Upstream({Answer().Head(Ms(1)).Trailers(Ms(2), StatusCode::kUnavailable), RefusedStream(), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, call.attempt(2).start + Ms(1));
}

TEST_F(CallTransparent, A61_AnUnreachableEndpointIsPassedOverAtNoCharge) {
  const int64_t dead = sidecar_.AddEndpoint(InTurn({Ok()}));
  sidecar_.AddEndpoint(InTurn({Ok()}));
  sidecar_.AddEndpoint(InTurn({Ok()}));
  sidecar_.endpoints().SetReachable(dead, false);
  for (int i = 0; i < 100; ++i) {
    SimHost& call = RunUnary();
    EXPECT_EQ(call.attempts(), 1);
    EXPECT_EQ(call.caller().code, StatusCode::kOk);
  }
  EXPECT_EQ(charged(), 0);
}

TEST_F(CallTransparent, A61_OnlyWhenNoEndpointIsLeftIsItAConnectFailure) {
  sidecar_.endpoints().SetReachable(sidecar_.AddEndpoint(InTurn({Ok()})), false);
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().attempts[1].trigger, RetryTrigger::kConnect);
}

}  // namespace
}  // namespace levee
