// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success to pay for them.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "call/call_fixture.h"
#include "gmock/gmock.h"
#include "sim/workload.h"

namespace levee {
namespace {

// One endpoint that fails until `back_`. A call has three attempts, whose backoff is short, and the
// credit is for two retries. So an outage takes two attempts of its first call, and the third
// waits.
class CallWaiting : public CallTest {
 protected:
  CallWaiting() {
    retry_.max_attempts = 3;
    retry_.backoff.initial = Ms(1);
    retry_.budget = {};
    sidecar_.AddEndpoint(
        [this](SimHost&, AttemptId) { return clock_.elapsed() < back_ ? answer_ : good_; });
  }

  SimHost& CallAt(absl::Duration at, const RequestFacts& facts = {}) {
    RunUntil(at);
    return sidecar_.Unary(facts);
  }
  void RunUntil(absl::Duration at) { clock_.RunFor(at - clock_.elapsed()); }
  // The call had that wait, and no other.
  static void ExpectWait(const SimHost& call, const WaitRecord& wait) {
    ASSERT_EQ(call.record().waits.size(), 1u);
    EXPECT_EQ(call.record().waits[0].after, wait.after);
    EXPECT_EQ(call.record().waits[0].waited, wait.waited);
    EXPECT_EQ(WaitEndName(call.record().waits[0].end), WaitEndName(wait.end));
  }
  int64_t waiting() { return sidecar_.budget().Read(clock_.now()).waiting; }

  absl::Duration back_ = absl::InfiniteDuration();
  const Answer good_ = Answer().Trailers(Ms(1), StatusCode::kOk);
  Answer answer_ = TrailersOnly(StatusCode::kUnavailable);
};

TEST_F(CallWaiting, ARetryGoesAsSoonAsAnotherCallSucceeds) {
  back_ = Ms(300);
  SimHost& failed = CallAt(Ms(0));
  RunUntil(Ms(100));
  EXPECT_EQ(waiting(), 1);
  EXPECT_EQ(failed.attempts(), 2);
  SimHost& good = CallAt(Ms(400));
  clock_.Run();
  EXPECT_EQ(good.attempts(), 1);
  ASSERT_EQ(failed.attempts(), 3);
  EXPECT_EQ(failed.attempt(3).start, good.caller().finished_at);
  EXPECT_EQ(failed.caller().code, StatusCode::kOk);
  ExpectWait(failed, {.after = 2, .waited = Ms(396), .end = WaitEnd::kReleased});
  EXPECT_EQ(failed.record().attempts[2].delay,
            failed.attempt(3).start - *failed.attempt(2).ended_at);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(CallWaiting, EachSuccessReleasesTwoInTheOrderInWhichTheyCame) {
  retry_.budget.burst_least = 100;
  retry_.budget.floor_min_success = 0;
  back_ = Ms(100);
  std::vector<SimHost*> failed;
  for (int i = 0; i < 9; ++i) failed.push_back(&CallAt(Ms(0)));
  SimHost& good = CallAt(Ms(110));
  clock_.Run();
  const absl::Duration success = *good.caller().finished_at;
  std::vector<absl::Duration> starts;
  for (const SimHost* const call : failed) {
    EXPECT_EQ(call->caller().code, StatusCode::kOk);
    starts.push_back(call->attempt(call->attempts()).start - success);
  }
  // The first call's second retry came last. Of two that go together, each releases two.
  EXPECT_THAT(starts, ::testing::ElementsAre(Ms(2), Ms(0), Ms(0), Ms(1), Ms(1), Ms(1), Ms(1), Ms(2),
                                             Ms(2)));
}

TEST_F(CallWaiting, AWaitThatExpiresIsAnsweredAsARefusalByTheBudget) {
  retry_.budget.burst_least = 1;
  retry_.exhausted = ExhaustedMode::kAuto;
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  EXPECT_EQ(call.caller().finished_at, *call.attempt(2).ended_at + absl::Seconds(2));
  ExpectWait(call, {.after = 2, .waited = Ms(1998), .end = WaitEnd::kExpired});
  EXPECT_EQ(call.caller().message,
            "overloaded, do not retry: budget used up, waited 1998 ms for a success after 2 "
            "attempts, last UNAVAILABLE at endpoint 0");
}

TEST_F(CallWaiting, TheLastCreditIsForARetryWhoseWaitIsOver) {
  back_ = Ms(1000);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, *call.attempt(2).ended_at + absl::Seconds(2));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallWaiting, WhereNobodyElseCallsARetryGoesAsAProbeAfterItsBackoff) {
  retry_.budget.burst_least = 3;
  back_ = Ms(5);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, *call.attempt(2).ended_at + Ms(2));
  EXPECT_TRUE(call.record().waits.empty());
}

TEST_F(CallWaiting, NoSecondProbeGoesWhileOneIsUnderWay) {
  retry_.budget.burst_least = 100;
  const Answer fails = answer_;
  SimHost& probing = CallAt(Ms(0));  // Attempts at 0 and 2 ms fail, and the probe goes at 5 ms.
  RunUntil(Ms(4));
  answer_ = Answer().Trailers(Ms(1500), StatusCode::kUnavailable);
  RunUntil(Ms(6));
  ASSERT_EQ(probing.attempts(), 3);
  answer_ = fails;
  // The second call succeeds during the backoff of the first one, whose retry need not wait then.
  SimHost& goes = CallAt(Ms(20));
  answer_ = good_;
  CallAt(Ms(20) + absl::Microseconds(500));
  answer_ = fails;
  RunUntil(Ms(29));
  ASSERT_EQ(goes.attempts(), 3);
  SimHost& waits = CallAt(Ms(30));
  RunUntil(Ms(1400));
  EXPECT_FALSE(probing.finished());
  EXPECT_EQ(waits.attempts(), 1);
  RunUntil(Ms(1600));
  EXPECT_EQ(waits.attempts(), 2);
}

TEST_F(CallWaiting, ACallerThatLeavesEndsTheWait) {
  SimHost& call = CallAt(Ms(0));
  RunUntil(Ms(500));
  call.Leave();
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(call.caller().finished_at, Ms(500));
  ExpectWait(call, {.after = 2, .waited = Ms(495), .end = WaitEnd::kCancelled});
  clock_.Run();
  EXPECT_EQ(call.attempts(), 2);
}

TEST_F(CallWaiting, AWaitEndsSoLongBeforeTheDeadlineThatItsCallerLearnsWhatFailed) {
  retry_.budget.burst_least = 1;
  retry_.exhausted = ExhaustedMode::kAuto;
  answer_ = Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no room");
  // Its second attempt ends at 3 ms, and it waits from 5 ms on.
  for (const auto& [timeout, end] : {std::pair(Ms(104), Ms(94)), std::pair(Ms(703), Ms(668))}) {
    SimSidecar sidecar(clock_, policy_);
    sidecar.KeepCalls();
    sidecar.AddEndpoint(InTurn({answer_}), "10.0.0.7:50051");
    const absl::Duration start = clock_.elapsed();
    SimHost& call = sidecar.Unary({.timeout = timeout});
    clock_.Run();
    EXPECT_EQ(call.caller().finished_at, start + end);
    EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
    EXPECT_EQ(call.caller().trailers.Get("levee-overload"),
              "service;reason=budget;upstream=cart;hops=1");
    EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
    const absl::Duration waited = call.record().waits[0].waited;
    EXPECT_EQ(call.caller().message,
              absl::StrCat("waited ", absl::ToInt64Milliseconds(waited),
                           " ms for a success after 2 attempts, last UNAVAILABLE at "
                           "10.0.0.7:50051: no room"));
    ExpectWait(call, {.after = 2, .waited = waited, .end = WaitEnd::kDeadline});
  }
}

TEST_F(CallWaiting, AWaitLeavesTheTimeThatHalfOfTheAnswersTake) {
  retry_.budget.burst_least = 1;
  retry_.min_remaining = false;
  for (int i = 0; i < 30; ++i) sidecar_.latency().Record(Ms(200), clock_.now());
  SimHost& call = RunUnary({.timeout = Ms(1000)});
  EXPECT_LE(call.caller().finished_at, Ms(800));
  EXPECT_EQ(call.record().waits[0].end, WaitEnd::kDeadline);
}

TEST_F(CallWaiting, ACallerThatLeavesAtItsDeadlineLeavesTheBudgetAsTheReason) {
  SimHost& call = sidecar_.Unary({.timeout = Ms(100)});
  RunUntil(Ms(85));
  call.Leave();
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  ExpectWait(call, {.after = 2, .waited = Ms(80), .end = WaitEnd::kDeadline});
}

TEST_F(CallWaiting, WhatAGoawaySaidIsInTheAnswer) {
  retry_.exhausted = ExhaustedMode::kAuto;
  answer_ = Answer().GoAwayExcluding(Ms(1), "deploying 1.7");
  SimHost& call = RunUnary({.timeout = Ms(500)});
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_TRUE(call.caller().message.ends_with(
      "last UNAVAILABLE at endpoint 0: the upstream is going away: deploying 1.7"))
      << call.caller().message;
}

TEST_F(CallWaiting, ARetryThatIsDueTooLateToWaitIsPaidForOrRefusedAtOnce) {
  retry_.budget.burst_least = 1;
  retry_.backoff.initial = Ms(45);
  SimHost& call = RunUnary({.timeout = Ms(100)});
  EXPECT_EQ(call.caller().finished_at, call.attempt(call.attempts()).ended_at);
  EXPECT_TRUE(call.record().waits.empty());
}

TEST_F(CallWaiting, ADrainThatTakesTooLongEndsTheWait) {
  SimHost& call = CallAt(Ms(0));
  RunUntil(Ms(500));
  call.DrainTimeout();
  EXPECT_EQ(call.record().refused, RefusalReason::kDraining);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(CallWaiting, NoneWaitsBehindAFailureThatSaysLoad) {
  retry_.codes = {StatusCode::kUnavailable, StatusCode::kResourceExhausted,
                  StatusCode::kDeadlineExceeded};
  retry_.http.Add(429);
  retry_.budget.burst_least = 1;
  retry_.attempt_timeout = Ms(20);
  const auto unavailable = [](const Answer::Fields& fields) {
    return Answer().Trailers(Ms(1), StatusCode::kUnavailable, "", fields);
  };
  for (const Answer& answer :
       {Silence(), TrailersOnly(StatusCode::kResourceExhausted),
        TrailersOnly(StatusCode::kDeadlineExceeded), unavailable({{"grpc-retry-pushback-ms", "1"}}),
        unavailable({{"retry-after", "1"}})}) {
    SimSidecar sidecar(clock_, policy_);
    sidecar.KeepCalls();
    sidecar.AddEndpoint(InTurn({answer}));
    for (int i = 0; i < 3; ++i) {
      SimHost& call = sidecar.Unary();
      clock_.RunFor(Ms(1500));
      ASSERT_TRUE(call.finished());
      EXPECT_TRUE(call.record().waits.empty());
    }
  }
}

TEST_F(CallWaiting, NoneWaitsWhereNothingCanBeReached) {
  retry_.budget.burst_least = 1;
  retry_.exhausted = ExhaustedMode::kAuto;
  answer_ = Answer().CannotConnect(Ms(1));
  SimHost& call = RunUnary({.timeout = absl::Seconds(2)});
  EXPECT_EQ(call.caller().finished_at, call.attempt(call.attempts()).ended_at);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "connection refused");
}

TEST(CallWaitingLine, TheFirstCallToAWrongAddressLearnsOfItWithin100Milliseconds) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SimClock clock;
    SimSidecar sidecar(clock, CallPolicy(), seed);
    sidecar.KeepCalls();
    sidecar.AddEndpoint(InTurn({Answer().CannotConnect(absl::ZeroDuration())}));
    SimHost& call = sidecar.Unary({.timeout = absl::Seconds(2)});
    clock.Run();
    EXPECT_LE(call.caller().finished_at, Ms(100));
    EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
    EXPECT_EQ(call.caller().message, "connection refused");
    EXPECT_TRUE(call.record().refused.has_value());
  }
}

TEST_F(CallWaiting, NoMoreWaitThanThereArePlaces) {
  sidecar_.waiting_calls = 3;
  std::vector<SimHost*> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(&CallAt(Ms(10 * i)));
  RunUntil(Ms(100));
  EXPECT_EQ(waiting(), 3);
  EXPECT_TRUE(calls[4]->finished());
  EXPECT_TRUE(calls[4]->record().waiting_full);
  EXPECT_EQ(calls[4]->record().refused, RefusalReason::kBudget);
}

TEST_F(CallWaiting, InALongOutageCallsFailAtOnce) {
  BeginWorkload(sidecar_, {.per_second = 10, .calls = 100});
  RunUntil(absl::Seconds(5));
  SimHost& call = CallAt(absl::Milliseconds(5050));
  clock_.RunFor(Ms(20));
  EXPECT_TRUE(call.finished());
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  EXPECT_EQ(waiting(), 0);
}

// Of 100 calls a second for 20 seconds, some of whose attempts fail.
struct LateAnswers {
  int late = 0;  // calls of the second half that were answered after more than half a second
  int64_t rescued = 0;
};

LateAnswers CountLateAnswers(double failing, uint64_t seed) {
  SimClock clock;
  SimSidecar sidecar(clock, CallPolicy(), seed);
  sidecar.KeepCalls();
  sidecar.AddEndpoint(Flaky(failing, seed));
  LateAnswers counts;
  for (int i = 0; i < 2000; ++i) {
    clock.RunFor(Ms(10));
    SimHost& call = sidecar.Unary({.timeout = absl::Seconds(5)});
    if (i < 1000) continue;
    clock.After(Ms(500), [&] { counts.late += call.finished() ? 0 : 1; });
  }
  clock.Run();
  counts.rescued = sidecar.tally().rescued;
  return counts;
}

TEST(CallWaitingLine, InALastingPartialFailureFewCallsWaitInVain) {
  // With 50 and 80% a retry takes its credit also if it works, so few calls can be rescued.
  struct Row {
    double failing;
    double late;
    double rescued;
  };
  for (const Row& row : {Row{0.2, 0.05, 0.07}, Row{0.5, 0.05, 0.029}, Row{0.8, 0.07, 0.005}}) {
    constexpr int kSeeds = 20;
    LateAnswers sum;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const LateAnswers counts = CountLateAnswers(row.failing, seed);
      sum.late += counts.late;
      sum.rescued += counts.rescued;
    }
    EXPECT_LE(sum.late, row.late * 1000 * kSeeds) << row.failing;
    EXPECT_GE(sum.rescued, row.rescued * 2000 * kSeeds) << row.failing;
  }
}

TEST(CallWaitingLine, AnOutageAfterAPartialFailureIsWaitedFor) {
  SimClock clock;
  SimSidecar sidecar(clock, CallPolicy());
  // One attempt of two fails for five seconds, and then all of them.
  int n = 0;
  sidecar.AddEndpoint([&](SimHost&, AttemptId) {
    const bool fails = ++n % 2 == 0 || clock.elapsed() >= absl::Seconds(5);
    return fails ? TrailersOnly(StatusCode::kUnavailable) : Ok();
  });
  BeginWorkload(sidecar, {.per_second = 100, .calls = 600});
  clock.RunFor(absl::Seconds(5));
  const int64_t before = sidecar.budget().Read(clock.now()).waiting;
  EXPECT_LE(before, 20);
  // The line is open again a quarter of a second after the last success.
  clock.RunFor(Ms(900));
  EXPECT_GE(sidecar.budget().Read(clock.now()).waiting, before + 50);
}

TEST_F(CallWaiting, AFailureOfLongAgoIsNoPartOfThisOne) {
  retry_.budget.wait = Ms(100);
  retry_.budget.burst_least = 4;
  CallAt(Ms(0));  // Two credits are left.
  RunUntil(absl::Minutes(1));
  SimHost& call = CallAt(absl::Minutes(1));
  back_ = clock_.elapsed() + Ms(10);
  CallAt(absl::Minutes(1) + Ms(50));
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallWaiting, WithoutAWaitTheBudgetRefusesAtOnce) {
  retry_.budget.wait = absl::ZeroDuration();
  retry_.budget.burst_least = 1;
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().finished_at, call.attempt(2).ended_at);
}

TEST_F(CallWaiting, WhatTheCallerSendsMeanwhileGoesWithTheRetry) {
  back_ = Ms(300);
  RunUntil(Ms(0));
  SimHost& call = sidecar_.NewCall();
  call.Send("pi");
  RunUntil(Ms(100));
  EXPECT_EQ(waiting(), 1);
  call.Send("ng", /*end=*/true);
  CallAt(Ms(400));
  clock_.Run();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).received, "ping");
  EXPECT_TRUE(call.attempt(3).half_closed);
}

}  // namespace
}  // namespace levee
