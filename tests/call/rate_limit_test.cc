// SPDX-License-Identifier: Apache-2.0
// Rate limits as a call meets them.
#include "call/call_fixture.h"

namespace levee {
namespace {

// One call a second, two at once.
class CallRateLimit : public CallTest {
 protected:
  CallRateLimit() {
    policy_.rate_limits = {{.name = "all", .per_second = 1, .burst = 2}};
    retry_.commit = CommitMode::kHeaders;  // So that a call leaves no timer behind.
    Upstream({Ok()});
  }
  RateLimitPolicy& limit() { return policy_.rate_limits[0]; }
};

TEST_F(CallRateLimit, A76_ACallOverTheRateIsRefusedWithTheTimeToTheNextPermit) {
  sidecar_.Unary();
  sidecar_.Unary();
  clock_.RunFor(Ms(2));
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.caller().message, "rate limit \"all\" of policy \"section-a\" reached");
  EXPECT_EQ(call.caller().pushback, Ms(1000 - 2));
  EXPECT_EQ(call.caller().trailers.Has("levee-overload"), false);
  EXPECT_EQ(call.record().rate_limit.refused_by, 0);
}

TEST_F(CallRateLimit, ARefusedCallEarnsNoRetries) {
  for (int i = 0; i < 5; ++i) RunUnary();
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).calls, 2);
}

TEST_F(CallRateLimit, A75_CallsOverTheRateWaitInOrderAsLongAsTheyMay) {
  limit().max_wait = absl::Seconds(2);
  for (int i = 0; i < 5; ++i) sidecar_.Unary();
  clock_.Run();
  const auto& calls = sidecar_.calls();
  EXPECT_EQ(calls[0].attempt(1).start, Ms(0));
  EXPECT_EQ(calls[1].attempt(1).start, Ms(0));
  EXPECT_EQ(calls[2].attempt(1).start, Ms(1000));
  EXPECT_EQ(calls[3].attempt(1).start, Ms(2000));
  EXPECT_EQ(calls[3].record().rate_limit.delayed_by, 0);
  EXPECT_EQ(calls[4].attempts(), 0);
  EXPECT_EQ(calls[4].caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(calls[4].caller().finished_at, Ms(0));
}

TEST_F(CallRateLimit, ACallWhoseDeadlineComesFirstDoesNotWait) {
  limit().max_wait = absl::Seconds(10);
  RunUnary();
  RunUnary();
  SimHost& call = RunUnary({.timeout = Ms(500)});
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
}

TEST_F(CallRateLimit, TheRequestOfAWaitingCallIsSentWhole) {
  limit().max_wait = absl::Seconds(10);
  RunUnary();
  RunUnary();
  SimHost& call = sidecar_.NewCall();
  call.Send("one ");
  clock_.RunFor(Ms(100));
  call.Send("two", /*end=*/true);
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.attempt(1).received, "one two");
  EXPECT_EQ(call.caller().credited, 7u);
}

TEST_F(CallRateLimit, ACallerThatLeavesWhileItWaitsReachesNobody) {
  limit().max_wait = absl::Seconds(10);
  RunUnary();
  RunUnary();
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(100));
  call.Leave();
  clock_.Run();
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
}

TEST_F(CallRateLimit, TheDeadlineHoldsWhileACallWaits) {
  limit().max_wait = absl::Seconds(10);
  sidecar_.Unary();
  sidecar_.Unary();
  clock_.RunFor(Ms(2));
  SimHost& call = sidecar_.Unary({.timeout = Ms(5000)});
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  ASSERT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.attempt(1).timeout, Ms(5000) - (call.attempt(1).start - Ms(2)));
}

TEST_F(CallRateLimit, A44_AnApplicationsRetryOverBudgetFailsAtOnceAndTakesNoPermit) {
  limit().max_wait = absl::Seconds(10);
  retry_.budget = {.ratio = 0, .floor_per_second = 0};
  RunUnary();
  RunUnary();
  for (int i = 0; i < 3; ++i) {
    SimHost& refused = sidecar_.Unary({.previous_attempts = 1});
    EXPECT_TRUE(refused.finished());
    EXPECT_EQ(refused.record().refused, RefusalReason::kBudget);
  }
  SimHost& call = sidecar_.Unary();
  clock_.Run();
  EXPECT_EQ(call.attempt(1).start, Ms(1000));
}

TEST_F(CallRateLimit, AnApplicationsRetryOverTheRateIsNotChargedToTheBudget) {
  RunUnary();
  RunUnary();
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.record().rate_limit.refused_by, 0);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 0);
}

TEST_F(CallRateLimit, ADrainThatCannotWaitEndsACallThatWaitsForItsPermit) {
  limit().max_wait = absl::Seconds(10);
  RunUnary();
  RunUnary();
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(100));
  call.DrainTimeout();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallRateLimit, RetriesNeedNoPermit) {
  sidecar_.AddEndpoint(InTurn({TrailersOnly(StatusCode::kUnavailable)}));
  for (int i = 0; i < 2; ++i) {
    SimHost& call = RunUnary();
    EXPECT_EQ(call.caller().code, StatusCode::kOk);
  }
}

TEST_F(CallRateLimit, AllLimitsOfAPolicyHoldAndARefusalTakesFromNone) {
  policy_.rate_limits.push_back({.name = "slow", .per_second = 0.1, .burst = 1});
  RunUnary();
  SimHost& call = RunUnary();
  EXPECT_EQ(call.record().rate_limit.refused_by, 1);
  EXPECT_EQ(call.caller().message, "rate limit \"slow\" of policy \"section-a\" reached");
  clock_.RunFor(absl::Seconds(10));
  RunUnary();
  EXPECT_EQ(sidecar_.calls().back().caller().code, StatusCode::kOk);
}

TEST_F(CallRateLimit, AnAdaptiveLimitIsLoweredByResourceExhausted) {
  SimSidecar sidecar(clock_, policy_);
  sidecar.KeepCalls();
  sidecar.policy.rate_limits = {{.name = "all", .per_second = 1000, .burst = 1, .adaptive = true}};
  sidecar.AddEndpoint(InTurn({TrailersOnly(StatusCode::kResourceExhausted)}));
  const auto admitted_in_a_second = [&] {
    const int64_t before = sidecar.tally().attempts;
    for (int i = 0; i < 1000; ++i) {
      sidecar.Unary();
      clock_.RunFor(Ms(1));
    }
    return sidecar.tally().attempts - before;
  };
  admitted_in_a_second();
  EXPECT_LT(admitted_in_a_second(), 500);
}

}  // namespace
}  // namespace levee
