// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success.
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
// destination two retries to spare. So an outage takes two attempts of its first call, and the
// third waits.
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
  ExpectWait(failed, {.after = 2, .end = WaitEnd::kReleased, .waited = Ms(396)});
  EXPECT_EQ(failed.record().attempts[2].delay,
            failed.attempt(3).start - *failed.attempt(2).ended_at);
  EXPECT_EQ(waiting(), 0);
}

TEST_F(CallWaiting, ASuccessReleasesWhatCanBeSparedAndEachOfTheseTheNext) {
  retry_.budget.floor_min_success = 0;
  back_ = Ms(100);
  std::vector<SimHost*> failed;
  for (int i = 0; i < 5; ++i) failed.push_back(&CallAt(Ms(0)));
  SimHost& good = CallAt(Ms(110));
  clock_.Run();
  const absl::Duration success = *good.caller().finished_at;
  std::vector<absl::Duration> starts;
  for (const SimHost* const call : failed) {
    EXPECT_EQ(call->caller().code, StatusCode::kOk);
    starts.push_back(call->attempt(call->attempts()).start - success);
  }
  // Of two credits the first call's retry has taken one. Its second retry came last.
  EXPECT_THAT(starts, ::testing::ElementsAre(Ms(4), Ms(0), Ms(1), Ms(2), Ms(3)));
}

TEST_F(CallWaiting, WhatNothingPaysForEndsHalfASecondAfterTheFirstSuccess) {
  retry_.budget.floor_min_success = 0;
  back_ = Ms(100);
  std::vector<SimHost*> failed;
  for (int i = 0; i < 3; ++i) failed.push_back(&CallAt(Ms(0)));
  RunUntil(Ms(109));
  // The retry that the success lets go hangs, so its credit does not come back.
  SimHost& good = CallAt(Ms(110));
  answer_ = Silence();
  back_ = absl::InfiniteDuration();
  clock_.RunFor(Ms(700));
  EXPECT_TRUE(good.finished());
  EXPECT_FALSE(failed[1]->finished());
  EXPECT_EQ(failed[2]->caller().finished_at, *good.caller().finished_at + Ms(500));
  EXPECT_EQ(failed[2]->record().refused, RefusalReason::kBudget);
}

TEST_F(CallWaiting, WithoutASuccessTheLastAttemptGoesWhenTheWaitIsOver) {
  back_ = Ms(1000);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 3);
  EXPECT_EQ(call.attempt(3).start, *call.attempt(1).ended_at + Ms(1100));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  ExpectWait(call, {.after = 2, .end = WaitEnd::kReleased, .waited = Ms(1096)});
}

TEST_F(CallWaiting, AllThatWaitEndTogetherOnceTheFirstInLineHasFailed) {
  std::vector<SimHost*> calls;
  for (const int at : {0, 300, 600, 900}) calls.push_back(&CallAt(Ms(at)));
  clock_.RunFor(absl::Seconds(1));
  EXPECT_EQ(calls[0]->attempts(), 3);
  for (const SimHost* const call : {calls[1], calls[2], calls[3]}) {
    EXPECT_EQ(call->attempts(), 1);
    EXPECT_EQ(call->caller().finished_at, calls[0]->caller().finished_at);
    EXPECT_EQ(call->record().refused, RefusalReason::kBudget);
    EXPECT_EQ(call->record().waits[0].end, WaitEnd::kExpired);
  }
}

TEST_F(CallWaiting, AnOutageHoldsCallersOnceAndAgainAfterASuccess) {
  CallAt(Ms(0));
  CallAt(Ms(1500));
  RunUntil(Ms(1510));
  EXPECT_EQ(waiting(), 0);  // Nothing has succeeded since the first hold.
  back_ = Ms(1600);
  for (int i = 0; i < 20; ++i) CallAt(Ms(1600 + 10 * i));  // They earn two retries.
  RunUntil(Ms(2000));
  back_ = absl::InfiniteDuration();
  CallAt(Ms(2000));
  RunUntil(Ms(2100));
  EXPECT_EQ(waiting(), 1);
}

TEST_F(CallWaiting, AWaitThatExpiresIsAnsweredAsARefusalByTheBudget) {
  retry_.exhausted = ExhaustedMode::kAuto;
  CallAt(Ms(0));
  SimHost& call = CallAt(Ms(10));
  clock_.RunFor(Ms(1200));
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  const absl::Duration waited = call.record().waits[0].waited;
  ExpectWait(call, {.after = 1, .end = WaitEnd::kExpired, .waited = waited});
  EXPECT_EQ(call.caller().message,
            absl::StrCat("overloaded, do not retry: budget used up, waited ",
                         absl::ToInt64Milliseconds(waited),
                         " ms for a success after 1 attempt, last UNAVAILABLE at endpoint 0"));
}

TEST_F(CallWaiting, NothingWaitsThatTheWindowCannotPay) {
  retry_.budget.floor_per_second = 0;  // So ten calls pay for one.
  back_ = Ms(200);
  for (int i = 0; i < 20; ++i) CallAt(Ms(200 + i));
  back_ = absl::InfiniteDuration();
  std::vector<SimHost*> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(&CallAt(Ms(300 + 10 * i)));
  RunUntil(Ms(400));
  // The first one's first retry has taken one of two.
  EXPECT_EQ(waiting(), 1);
  EXPECT_TRUE(calls[2]->finished());
  EXPECT_TRUE(calls[3]->finished());
}

TEST_F(CallWaiting, NothingWaitsWhereOtherCallsSucceed) {
  retry_.budget.burst_least = 1;
  int n = 0;
  SimSidecar sidecar(clock_, policy_);
  sidecar.KeepCalls();
  sidecar.AddEndpoint([&](SimHost&, AttemptId) { return ++n % 2 == 0 ? good_ : answer_; });
  for (int i = 0; i < 40; ++i) {
    sidecar.Unary();
    clock_.RunFor(absl::Microseconds(100));
  }
  clock_.RunFor(Ms(20));
  EXPECT_EQ(sidecar.budget().Read(clock_.now()).waiting, 0);
  for (const SimHost& call : sidecar.calls()) EXPECT_TRUE(call.finished());
}

TEST_F(CallWaiting, ACallerThatLeavesEndsTheWait) {
  SimHost& call = CallAt(Ms(0));
  RunUntil(Ms(500));
  call.Leave();
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(call.caller().finished_at, Ms(500));
  ExpectWait(call, {.after = 2, .end = WaitEnd::kCancelled, .waited = Ms(495)});
  clock_.Run();
  EXPECT_EQ(call.attempts(), 2);
}

TEST_F(CallWaiting, AWaitEndsSoLongBeforeTheDeadlineThatItsCallerLearnsWhatFailed) {
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
    ExpectWait(call, {.after = 2, .end = WaitEnd::kDeadline, .waited = waited});
  }
}

TEST_F(CallWaiting, AWaitLeavesTheTimeThatHalfOfTheAnswersTake) {
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
  ExpectWait(call, {.after = 2, .end = WaitEnd::kDeadline, .waited = Ms(80)});
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
  retry_.backoff.initial = Ms(30);
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
  for (const Row& row : {Row{0.2, 0.001, 0.07}, Row{0.5, 0.005, 0.028}, Row{0.8, 0.012, 0.005}}) {
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
