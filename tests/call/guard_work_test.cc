// SPDX-License-Identifier: Apache-2.0
// Calls that come to the guard without their requests.
#include <string>

#include "absl/strings/match.h"
#include "call/call_fixture.h"

namespace levee {
namespace {

// A guard of one slot.
class CallGuardWork : public CallTest {
 protected:
  CallGuardWork() {
    policy_.retry.max_attempts = 1;
    policy_.guard = GuardPolicy();
    policy_.guard->concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed,
                                  .fixed = 1,
                                  .streams = ConcurrencyPolicy::Streams::kCount};
    sidecar_.inbound = true;
    Upstream({Silence()});
  }

  // A call with its whole request.
  SimHost& Work() {
    SimHost& call = sidecar_.NewCall({.timeout = absl::Seconds(100)});
    call.Send(kMessage, /*end=*/true);
    return call;
  }
  void Reply(SimHost& call) {
    if (call.attempts() == 0) return;
    Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), "pong").Trailers(Ms(0), StatusCode::kOk));
  }
  static void Deliver(SimHost& call, const Answer& answer) {
    for (const Answer::Step& step : answer.steps()) call.Deliver(1, step);
  }
  SimHost& Head(absl::Duration timeout = absl::Seconds(100)) {
    return sidecar_.NewCall({.timeout = timeout});
  }
  int InFlight() { return sidecar_.guard()->guard().View(clock_.now()).in_flight; }
};

TEST_F(CallGuardWork, AHeadAloneTakesNoSlotFromACallWithAMessage) {
  SimHost& head = Head();
  EXPECT_EQ(head.attempts(), 0);
  SimHost& call = Work();
  EXPECT_EQ(call.attempts(), 1);
  Reply(call);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  head.Send(kMessage.substr(0, 7));
  EXPECT_EQ(head.attempts(), 0);
  head.Send(kMessage.substr(7));
  ASSERT_EQ(head.attempts(), 1);
  EXPECT_EQ(head.attempt(1).start, Ms(0));
  EXPECT_EQ(head.attempt(1).received, kMessage);
  Reply(head);
  EXPECT_EQ(head.caller().code, StatusCode::kOk);
  EXPECT_EQ(InFlight(), 0);
}

TEST_F(CallGuardWork, ACallerThatWaitsForTheHeadOfTheAnswerGetsIt) {
  SimHost& call = Head();
  clock_.RunFor(Ms(100));
  ASSERT_EQ(call.attempts(), 1);
  Deliver(call, Answer().Head(Ms(0)));
  EXPECT_EQ(call.caller().head_at, Ms(100));
  call.Send(kMessage, /*end=*/true);
  EXPECT_EQ(call.attempt(1).received, kMessage);
  // Now the slot is its own.
  SimHost& other = Work();
  clock_.RunFor(Ms(1));
  EXPECT_EQ(other.attempts(), 0);
  Deliver(call, Answer().Message(Ms(0), "pong").Trailers(Ms(0), StatusCode::kOk));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  clock_.RunFor(Ms(0));
  EXPECT_EQ(other.attempts(), 1);
}

TEST_F(CallGuardWork, ASlotOnLoanGoesToACallWithAMessage) {
  SimHost& idle = Head();
  clock_.RunFor(Ms(100));
  ASSERT_EQ(idle.attempts(), 1);
  Deliver(idle, Answer().Head(Ms(0)));
  SimHost& call = Work();
  clock_.RunFor(Ms(0));
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(idle.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(idle.attempt(1).cancelled_at, Ms(100));
  EXPECT_EQ(idle.record().guard.decision, GuardDecision::kRefused);
  EXPECT_EQ(idle.record().guard.reason, GuardReason::kConcurrency);
  EXPECT_TRUE(absl::StrContains(idle.caller().message, "the call has sent no message"))
      << idle.caller().message;
  EXPECT_EQ(InFlight(), 1);
  Reply(call);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(InFlight(), 0);
}

TEST_F(CallGuardWork, AServiceThatSpeaksFirstMakesTheSlotTheCallsOwn) {
  SimHost& stream = Head();
  clock_.RunFor(Ms(100));
  Deliver(stream, Answer().Head(Ms(0)).Message(Ms(0), "news"));
  SimHost& other = Work();
  clock_.RunFor(Ms(1));
  EXPECT_EQ(other.attempts(), 0);
  EXPECT_FALSE(stream.finished());
}

TEST_F(CallGuardWork, WhatFindsNoSlotToBorrowIsRefusedInTheEnd) {
  SimHost& call = Work();
  SimHost& head = Head();
  clock_.RunFor(Ms(799));
  EXPECT_FALSE(head.finished());
  clock_.RunFor(Ms(1));
  EXPECT_EQ(head.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(head.attempts(), 0);
  EXPECT_EQ(InFlight(), 1);
  EXPECT_FALSE(call.finished());
}

TEST_F(CallGuardWork, ABorrowerThatLeavesGivesTheSlotBack) {
  SimHost& head = Head();
  clock_.RunFor(Ms(100));
  EXPECT_EQ(InFlight(), 1);
  head.Leave();
  EXPECT_EQ(InFlight(), 0);
  SimHost& call = Work();
  EXPECT_EQ(call.attempts(), 1);
  // One that leaves while its refusal is on its way has no slot any more.
  Reply(call);
  SimHost& second = Head();
  clock_.RunFor(Ms(100));
  EXPECT_EQ(InFlight(), 1);
  Work();
  second.Leave();
  EXPECT_EQ(InFlight(), 1);
}

TEST_F(CallGuardWork, ADeadlineThatPassesBeforeTheMessageSaysSo) {
  SimHost& head = Head(Ms(50));
  clock_.RunFor(Ms(60));
  EXPECT_EQ(head.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(head.caller().message, "deadline exceeded before the request had a message");
  EXPECT_EQ(InFlight(), 0);
}

TEST_F(CallGuardWork, AMessageLargerThanTheBufferComesToTheGuard) {
  policy_.retry.buffer_bytes = 8;
  SimHost& call = Head();
  call.Send(std::string("\0\0\1\0\0large", 10));
  ASSERT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.attempt(1).start, Ms(0));
  EXPECT_EQ(call.attempt(1).received.size(), 10u);
}

TEST_F(CallGuardWork, AGuardThatObservesDelaysNoHead) {
  policy_.guard->observe = true;
  EXPECT_EQ(Head().attempts(), 1);
}

TEST_F(CallGuardWork, AGuardWithoutALimitDelaysNoHead) {
  policy_.guard->concurrency.kind = ConcurrencyPolicy::Kind::kNone;
  EXPECT_EQ(Head().attempts(), 1);
}

}  // namespace
}  // namespace levee
