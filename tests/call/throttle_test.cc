// SPDX-License-Identifier: Apache-2.0
// The adaptive throttle as calls meet it, and S9: it shortens the recovery of a saturated service.
#include <algorithm>
#include <iostream>
#include <string_view>

#include "call/saturation.h"
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

struct Cut {
  std::string_view name;
  double load;
  double left;
  // Seconds within which the service is back, for it never is without retries.
  double within;
};

CallPolicy Throttled() {
  CallPolicy policy = TimeoutsRetried();
  policy.throttle->mode = ThrottleMode::kEnforce;
  return policy;
}

TEST(CallStormMoment, S9_ThrottlingShortensTheRecoveryOfASaturatedServiceByAFifth) {
  for (const Cut& cut :
       {Cut{"80% load, cut to 50%", 0.80, 0.50}, Cut{"90% load, cut to 70%", 0.90, 0.70},
        Cut{"93% load, cut to 85%", 0.93, 0.85}}) {
    const Saturation saturation = {.load = cut.load,
                                   .capacity = {.cut_for = absl::Seconds(10), .left = cut.left}};
    std::vector<double> without, with;
    double good_without = 0, good_with = 0;
    for (uint64_t seed = 1; seed <= kSaturationSeeds; ++seed) {
      SaturationRun plain(saturation, WithoutRetries(), seed);
      SaturationRun throttled(saturation, Throttled(), seed);
      without.push_back(plain.Recovery(60));
      with.push_back(throttled.Recovery(60));
      good_without += plain.GoodDuringFault() / kSaturationSeeds;
      good_with += throttled.GoodDuringFault() / kSaturationSeeds;
    }
    std::sort(without.begin(), without.end());
    std::sort(with.begin(), with.end());
    std::cout << cut.name << " for 10 s: without retries median " << without[kSaturationSeeds / 2]
              << " s, worst " << without.back() << " s, " << good_without
              << " good during the fault; with retries and throttle median "
              << with[kSaturationSeeds / 2] << " s, worst " << with.back() << " s, " << good_with
              << " good, of " << kSaturationSeeds << " seeds\n";
    EXPECT_LE(with[kSaturationSeeds / 2], std::min(0.8 * without[kSaturationSeeds / 2], 15.0))
        << cut.name;
    EXPECT_GT(good_with, good_without) << cut.name;
  }
}

}  // namespace
}  // namespace levee
