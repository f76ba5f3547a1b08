// SPDX-License-Identifier: Apache-2.0
// Calls with idempotency keys.
#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

const std::string kPayment("\0\0\0\0\5pay 5", 10);
const std::string kOtherPayment("\0\0\0\0\5pay 7", 10);

class CallKey : public CallTest {
 protected:
  CallKey() {
    policy_.retry.max_attempts = 1;
    policy_.dedupe = DedupePolicy();
    sidecar_.inbound = true;
    Upstream({Silence()});
  }

  SimHost& Start(const std::string& key = "k", absl::Duration timeout = absl::Seconds(100)) {
    return sidecar_.NewCall({.timeout = timeout, .dedupe_key = key, .method = "/shop.Pay/Charge"});
  }
  SimHost& Pay(const std::string& key = "k", absl::Duration timeout = absl::Seconds(100)) {
    SimHost& call = Start(key, timeout);
    call.Send(kPayment, /*end=*/true);
    return call;
  }
  static void Deliver(SimHost& call, const Answer& answer) {
    for (const Answer::Step& step : answer.steps()) call.Deliver(1, step);
  }
  void Reply(SimHost& call, const std::string& body = "receipt") {
    Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), body).Trailers(Ms(0), StatusCode::kOk));
    clock_.RunFor(Ms(0));
  }
  void Fail(SimHost& call, StatusCode code) {
    Deliver(call, Answer().Trailers(Ms(0), code));
    clock_.RunFor(Ms(0));
  }
  size_t Keys() { return sidecar_.dedupe()->GetView().keys; }
};

TEST_F(CallKey, ACallThatIsRepeatedGetsTheAnswerOfTheFirstAndRunsOnce) {
  SimHost& first = Pay();
  Reply(first);
  SimHost& second = Pay();
  EXPECT_EQ(second.attempts(), 0);
  EXPECT_EQ(second.caller().code, StatusCode::kOk);
  EXPECT_EQ(second.caller().body, "receipt");
  EXPECT_EQ(first.record().dedupe, DedupeResult::kFirst);
  EXPECT_EQ(second.record().dedupe, DedupeResult::kReplayed);
  EXPECT_EQ(Pay("other").attempts(), 1);
  EXPECT_EQ(Pay("").attempts(), 1) << "a call without a key runs";
}

TEST_F(CallKey, AnAnswerThatIsAFailureIsAnAnswer) {
  Fail(Pay(), StatusCode::kInvalidArgument);
  SimHost& second = Pay();
  EXPECT_EQ(second.attempts(), 0);
  EXPECT_EQ(second.caller().code, StatusCode::kInvalidArgument);
}

TEST_F(CallKey, WhatSurelyDidNotRunOrIsToBeTriedAgainRunsAgain) {
  for (const StatusCode code :
       {StatusCode::kUnavailable, StatusCode::kResourceExhausted, StatusCode::kAborted}) {
    SimHost& call = Pay();
    ASSERT_EQ(call.attempts(), 1);
    Fail(call, code);
    EXPECT_EQ(call.caller().code, code);
    EXPECT_EQ(Keys(), 0u);
  }
  SimHost& refused = Pay();
  for (const AttemptId attempt : {1, 2}) {  // once more, transparently
    refused.Deliver(attempt, Answer().Reset(Ms(0), /*REFUSED_STREAM*/ 7).steps().front());
  }
  EXPECT_TRUE(refused.finished());
  EXPECT_EQ(Keys(), 0u);
}

TEST_F(CallKey, ACallWaitsForTheOneThatRuns) {
  SimHost& first = Pay();
  SimHost& second = Pay();
  clock_.RunFor(absl::Seconds(5));
  EXPECT_EQ(second.attempts(), 0);
  EXPECT_FALSE(second.finished());
  Reply(first);
  EXPECT_EQ(second.caller().body, "receipt");
  EXPECT_EQ(second.caller().finished_at, absl::Seconds(5));
  EXPECT_EQ(second.record().dedupe, DedupeResult::kWaited);
}

TEST_F(CallKey, ACallThatWaitsRunsIfTheFirstDidNot) {
  SimHost& first = Pay();
  SimHost& second = Pay();
  Fail(first, StatusCode::kUnavailable);
  ASSERT_EQ(second.attempts(), 1);
  EXPECT_EQ(second.attempt(1).received, kPayment);
  Reply(second);
  EXPECT_EQ(second.caller().code, StatusCode::kOk);
  EXPECT_EQ(second.record().dedupe, DedupeResult::kFirst);
}

TEST_F(CallKey, ACallWaitsNoLongerThanItsDeadline) {
  Pay();
  SimHost& second = Pay("k", absl::Seconds(2));
  clock_.RunFor(absl::Seconds(3));
  EXPECT_EQ(second.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(second.caller().message,
            "deadline exceeded before the first call with the idempotency key was answered");
}

TEST_F(CallKey, ACallerThatLeavesGetsItsAnswerAsItComesBack) {
  SimHost& first = Pay();
  first.Leave();
  EXPECT_FALSE(first.finished()) << "the application works on it";
  SimHost& second = Pay();
  Reply(first);
  EXPECT_EQ(first.caller().code, StatusCode::kOk);
  EXPECT_EQ(first.record().code, StatusCode::kCancelled) << "as its caller saw it";
  EXPECT_EQ(second.caller().body, "receipt");
}

TEST_F(CallKey, ACallerThatLeavesBeforeItsRequestIsWholeEndsTheCall) {
  SimHost& first = Start();
  first.Send(kPayment.substr(0, 7));
  first.Leave();
  EXPECT_TRUE(first.finished());
}

TEST_F(CallKey, ACallWhoseAnswerIsLostIsToldAsSuch) {
  SimHost& first = Pay();
  Deliver(first, Answer().ConnectionLost(Ms(0)));
  EXPECT_EQ(first.caller().code, StatusCode::kUnavailable);
  SimHost& early = Pay("k", absl::Seconds(30));
  clock_.RunFor(absl::Seconds(30));
  EXPECT_EQ(early.caller().code, StatusCode::kDeadlineExceeded);
  SimHost& second = Pay();
  clock_.RunFor(absl::Seconds(31));
  EXPECT_EQ(second.caller().code, StatusCode::kFailedPrecondition);
  EXPECT_EQ(second.caller().message,
            "the first call with this idempotency key was lost; it may have run");
  EXPECT_EQ(second.caller().finished_at, absl::Seconds(60));
  EXPECT_EQ(second.record().dedupe, DedupeResult::kLost);
  EXPECT_EQ(Pay().caller().code, StatusCode::kFailedPrecondition);
}

TEST_F(CallKey, AnApplicationThatBreaksTheCallOffLosesIt) {
  Fail(Pay(), StatusCode::kCancelled);
  clock_.RunFor(absl::Seconds(60));
  EXPECT_EQ(Pay().caller().code, StatusCode::kFailedPrecondition);
}

TEST_F(CallKey, ADeadlineThatPassesWhileTheApplicationWorksLosesTheCall) {
  SimHost& first = Pay("k", absl::Seconds(1));
  clock_.RunFor(absl::Seconds(61));
  EXPECT_EQ(first.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Pay().caller().code, StatusCode::kFailedPrecondition);
}

TEST_F(CallKey, AnotherRequestWithTheKeyIsRefused) {
  SimHost& first = Pay();
  SimHost& other = Start();
  other.Send(kOtherPayment, /*end=*/true);
  EXPECT_EQ(other.caller().code, StatusCode::kInvalidArgument);
  EXPECT_EQ(other.caller().message, "the first call with this idempotency key was another request");
  EXPECT_EQ(other.record().dedupe, DedupeResult::kMismatch);
  Reply(first);
}

TEST_F(CallKey, ACallThatWaitsForItsRequestRunsIfTheKeyIsFreeByThen) {
  SimHost& first = Pay();
  SimHost& second = Start();
  second.Send(kPayment.substr(0, 4));
  Fail(first, StatusCode::kUnavailable);
  EXPECT_EQ(second.attempts(), 0);
  second.Send(kPayment.substr(4), /*end=*/true);
  ASSERT_EQ(second.attempts(), 1);
  EXPECT_EQ(second.attempt(1).received, kPayment);
}

TEST_F(CallKey, ALongRequestIsComparedAlthoughItIsNotKept) {
  retry_.buffer_bytes = 8;
  SimHost& first = Pay();
  ASSERT_EQ(first.attempts(), 1);
  SimHost& second = Pay();
  EXPECT_EQ(second.caller().credited, kPayment.size()) << "its caller can go on sending";
  Reply(first);
  EXPECT_EQ(second.caller().body, "receipt");
  SimHost& third = Pay("other");
  SimHost& fourth = Pay("other");
  Fail(third, StatusCode::kUnavailable);
  EXPECT_EQ(fourth.caller().code, StatusCode::kAborted) << "it cannot run any more";
  EXPECT_EQ(fourth.caller().pushback, absl::Seconds(1));
}

TEST_F(CallKey, PoliciesRefuseWhatOthersReplayOrLetWait) {
  policy_.dedupe->duplicate = DedupePolicy::Duplicate::kRefuse;
  policy_.dedupe->in_flight = DedupePolicy::InFlight::kRefuse;
  SimHost& first = Pay();
  SimHost& second = Pay();
  EXPECT_EQ(second.caller().code, StatusCode::kAborted);
  Reply(first);
  SimHost& third = Pay();
  EXPECT_EQ(third.caller().code, StatusCode::kAlreadyExists);
  EXPECT_EQ(third.caller().message, "the first call with this idempotency key has ended with OK");
}

TEST_F(CallKey, ACallWhoseKeyIsRefusedNeverRuns) {
  SimHost& call = sidecar_.Unary({.dedupe_fault = "two keys"});
  EXPECT_EQ(call.caller().message, "two keys");
  EXPECT_EQ(call.record().dedupe, DedupeResult::kRefused);
  EXPECT_EQ(call.caller().code, StatusCode::kInvalidArgument);
  EXPECT_EQ(call.attempts(), 0);
}

TEST_F(CallKey, AFullStoreRefusesOrRunsAsThePolicySays) {
  policy_.dedupe->max_bytes = 1;
  SimHost& call = Pay();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.record().dedupe, DedupeResult::kStoreFailed);
}

TEST_F(CallKey, AFullStoreRunsCallsIfThePolicySaysSo) {
  policy_.dedupe->max_bytes = 1;
  policy_.dedupe->on_store_failure = DedupePolicy::StoreFailure::kRun;
  SimHost& call = Pay();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.record().dedupe, std::nullopt) << "until it ends";
  Reply(call);
  EXPECT_EQ(call.record().dedupe, DedupeResult::kStoreFailed);
}

// The guard refuses calls: they have not run.
TEST_F(CallKey, AKeyIsFreeAgainAfterTheGuardHasRefusedTheCall) {
  policy_.guard = GuardPolicy();
  policy_.guard->concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 1};
  policy_.guard->queue.max = 0;
  SimHost& other = Pay("other");
  SimHost& call = Pay();
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  SimHost& duplicate = Pay("other");
  EXPECT_FALSE(duplicate.finished()) << "it needs no slot";
  Reply(other);
  EXPECT_EQ(duplicate.caller().body, "receipt");
  EXPECT_EQ(Pay().attempts(), 1);
}

}  // namespace
}  // namespace levee
