// SPDX-License-Identifier: Apache-2.0
// The adaptive throttle as calls meet it.
#include "call/call_fixture.h"
#include "sim/workload.h"

namespace levee {
namespace {

class CallThrottle : public CallTest {
 protected:
  CallThrottle() {
    policy_.throttle->mode = ThrottleMode::kEnforce;
    retry_.max_attempts = 1;
  }

  // Makes `calls`, one after the other, and returns how many of them were not sent.
  int NotSent(int calls, const RequestFacts& facts = {}) {
    int not_sent = 0;
    for (int i = 0; i < calls; ++i) not_sent += RunUnary(facts).attempts() == 0;
    return not_sent;
  }

  double Probability() { return sidecar_.throttle()->Probability(clock_.now()); }
};

Answer Marked() {
  return TrailersOnly(StatusCode::kResourceExhausted, {{"levee-overload", "service"}});
}

TEST_F(CallThrottle, ARejectedCallGetsTheAgreedAnswerAndNoAttempt) {
  Upstream({Marked()});
  NotSent(50);
  SimHost* rejected = nullptr;
  while (rejected == nullptr) {
    SimHost& call = RunUnary();
    if (call.attempts() == 0) rejected = &call;
  }
  EXPECT_EQ(rejected->caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(rejected->caller().message,
            "overloaded, do not retry: the upstream is overloaded, and this call was not sent");
  EXPECT_EQ(rejected->caller().trailers.Get("levee-overload"),
            "service;reason=throttle;upstream=cart;hops=1");
  EXPECT_EQ(rejected->caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(rejected->record().refused, RefusalReason::kThrottle);
  EXPECT_EQ(rejected->record().throttle, ThrottleDecision::kRejected);
}

TEST_F(CallThrottle, CallsAreSentWhileItObserves) {
  policy_.throttle->mode = ThrottleMode::kObserve;
  Upstream({Marked()});
  EXPECT_EQ(NotSent(100), 0);
  EXPECT_EQ(sidecar_.calls().back().record().throttle, ThrottleDecision::kObserved);
}

TEST_F(CallThrottle, WithoutThrottleNothingIsDecided) {
  policy_.throttle.reset();
  Upstream({Marked()});
  EXPECT_EQ(NotSent(100), 0);
  EXPECT_FALSE(sidecar_.calls().back().record().throttle.has_value());
}

TEST_F(CallThrottle, AttemptTimeoutsAndDeadlinesSayOverload) {
  policy_.throttle->window = absl::Seconds(60);
  retry_.attempt_timeout = Ms(10);
  Upstream({Silence()});
  NotSent(20);
  EXPECT_GT(Probability(), 0.9);
  CallPolicy without = policy_;
  without.retry.attempt_timeout = absl::InfiniteDuration();
  SimSidecar other(clock_, without);
  HasAnswered(other);
  other.AddEndpoint(InTurn({Silence()}));
  RunWorkload(other, {.per_second = 100, .calls = 20, .facts = [](int64_t) {
                        return RequestFacts{.timeout = Ms(10)};
                      }});
  EXPECT_GT(other.throttle()->Probability(clock_.now()), 0.9);
}

TEST_F(CallThrottle, OtherFailuresAreNoReasonToReject) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), TrailersOnly(StatusCode::kResourceExhausted),
            TrailersOnly(StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "-1"}}),
            TrailersOnly(StatusCode::kInternal, {{"levee-overload", "endpoint"}}),
            Answer().CannotConnect(Ms(1)), Answer().ConnectionLost(Ms(1)),
            TrailersOnly(StatusCode::kUnavailable)});
  EXPECT_EQ(NotSent(200), 0);
}

TEST_F(CallThrottle, CodesSayOverloadWhereTheyAreListed) {
  policy_.throttle->on = {.mark = false, .timeout = false, .unavailable = true};
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  EXPECT_GT(NotSent(200), 100);
}

TEST_F(CallThrottle, StreamsThatStayOpenAreNoReasonToReject) {
  sidecar_.AddEndpoint([n = 0](SimHost&, AttemptId) mutable {
    return ++n % 100 == 1 ? Marked() : Answer().Head(Ms(1));
  });
  for (int i = 0; i < 200; ++i) sidecar_.NewCall();
  clock_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Probability(), 0);
}

TEST_F(CallThrottle, ARejectedApplicationRetryCostsNoBudget) {
  Upstream({Marked()});
  NotSent(50);
  const int64_t before = sidecar_.budget().Read(clock_.now()).retries;
  int attempts = 0;
  for (int i = 0; i < 50; ++i) attempts += RunUnary({.previous_attempts = 1}).attempts();
  EXPECT_LE(sidecar_.budget().Read(clock_.now()).retries - before, attempts);
}

}  // namespace
}  // namespace levee
