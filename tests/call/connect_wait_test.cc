// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a service that cannot be reached yet.
#include <vector>

#include "call/call_fixture.h"

namespace levee {
namespace {

// One endpoint, which cannot be reached until Come. Its policy is the default one.
class CallConnectWait : public CallTest {
 protected:
  CallConnectWait() {
    policy_ = CallPolicy();
    sidecar_.connect_wait = absl::Seconds(10);
    sidecar_.AddEndpoint([this](SimHost&, AttemptId) {
      ++arrived_;
      return answer_;
    });
    sidecar_.endpoints().SetReachable(0, false);
  }

  void Come() { sidecar_.endpoints().SetReachable(0, true); }
  void RunUntil(absl::Duration at) { clock_.RunFor(at - clock_.elapsed()); }

  Answer answer_ = Answer().Trailers(Ms(10), StatusCode::kOk);
  int arrived_ = 0;
};

TEST_F(CallConnectWait, E7_ACallWaitsForAServiceThatStartsFourSecondsLater) {
  SimHost& call = sidecar_.Unary({.timeout = absl::Seconds(8)});
  RunUntil(absl::Seconds(4));
  EXPECT_FALSE(call.finished());
  Come();
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().finished_at, absl::Seconds(4) + Ms(10));
  EXPECT_EQ(call.attempts(), 1);
}

TEST_F(CallConnectWait, E7_ByDefaultItEndsAtOnceWithTheCause) {
  sidecar_.connect_wait = absl::ZeroDuration();
  SimHost& call = RunUnary({.timeout = absl::Seconds(8)});
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "connection refused");
  EXPECT_LE(call.caller().finished_at, Ms(100));
}

TEST_F(CallConnectWait, TheWaitOfAllAttemptsTogetherIsBounded) {
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_GE(call.caller().finished_at, absl::Seconds(10));
  EXPECT_LE(call.caller().finished_at, absl::Seconds(10) + Ms(100));
}

TEST_F(CallConnectWait, ItEndsSoLongBeforeTheDeadlineThatTheCallerLearnsWhy) {
  retry_.max_attempts = 1;
  SimHost& call = RunUnary({.timeout = absl::Seconds(2)});
  EXPECT_EQ(call.caller().finished_at, Ms(1900));
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "waited 1900 ms for a connection; connection refused");
}

TEST_F(CallConnectWait, NoMoreWaitThanThereArePlaces) {
  sidecar_.waiting_calls = 3;
  retry_.max_attempts = 1;
  std::vector<SimHost*> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(&sidecar_.Unary());
  RunUntil(Ms(1));
  for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i]->finished(), i >= 3) << i;
  EXPECT_EQ(calls[4]->caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(calls[4]->caller().message, "connection refused");
  calls[0]->Leave();
  SimHost& next = sidecar_.Unary();
  RunUntil(Ms(2));
  EXPECT_FALSE(next.finished());
}

TEST_F(CallConnectWait, TenGoFirstAndTwoForEachThatIsAnswered) {
  for (int i = 0; i < 100; ++i) sidecar_.Unary();
  RunUntil(absl::Seconds(1));
  Come();
  RunUntil(absl::Seconds(1) + Ms(5));
  EXPECT_EQ(arrived_, 10);
  RunUntil(absl::Seconds(1) + Ms(15));
  EXPECT_EQ(arrived_, 30);
  RunUntil(absl::Seconds(1) + Ms(25));
  EXPECT_EQ(arrived_, 70);
  clock_.Run();
  EXPECT_EQ(sidecar_.tally().ok, 100);
}

TEST_F(CallConnectWait, CallsThatComeMeanwhileGoBehindThoseThatWait) {
  for (int i = 0; i < 30; ++i) sidecar_.Unary();
  RunUntil(absl::Seconds(1));
  Come();
  RunUntil(absl::Seconds(1) + Ms(1));
  SimHost& late = sidecar_.Unary();
  RunUntil(absl::Seconds(1) + Ms(9));
  EXPECT_EQ(arrived_, 10);
  clock_.Run();
  EXPECT_EQ(late.caller().code, StatusCode::kOk);
  EXPECT_EQ(late.attempt(1).start, absl::Seconds(1) + Ms(20));
}

TEST_F(CallConnectWait, WhereCallsFailTheLineMovesOnAllTheSame) {
  retry_.max_attempts = 1;
  answer_ = TrailersOnly(StatusCode::kUnavailable);
  for (int i = 0; i < 100; ++i) sidecar_.Unary();
  RunUntil(absl::Seconds(1));
  Come();
  RunUntil(absl::Seconds(1) + Ms(11));
  EXPECT_EQ(arrived_, 100);
}

TEST_F(CallConnectWait, AServiceThatVanishesAgainIsWaitedForOn) {
  SimHost& first = sidecar_.Unary();
  RunUntil(absl::Seconds(1));
  Come();
  RunUntil(absl::Seconds(1) + Ms(20));
  EXPECT_TRUE(first.finished());
  sidecar_.endpoints().SetReachable(0, false);
  SimHost& second = sidecar_.Unary();
  RunUntil(absl::Seconds(5));
  EXPECT_FALSE(second.finished());
  Come();
  clock_.Run();
  EXPECT_EQ(second.caller().code, StatusCode::kOk);
}

}  // namespace
}  // namespace levee
