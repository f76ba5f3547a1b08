// SPDX-License-Identifier: Apache-2.0
// Calls with idempotency keys whose callers go.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "call/call_fixture.h"

namespace levee {
namespace {

constexpr absl::Duration kNoDeadline = absl::InfiniteDuration();
constexpr int kHonest = 100;  // a caller

// In front of a service with a guard of eight slots. It answers one caller, and by itself no other.
class CallAlone : public CallTest {
 protected:
  CallAlone() {
    policy_.retry.max_attempts = 1;
    policy_.dedupe = DedupePolicy();
    policy_.guard = GuardPolicy();
    policy_.guard->concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 8};
    sidecar_.inbound = true;
    sidecar_.AddEndpoint([](SimHost& host, AttemptId) {
      const bool answers = host.origin().caller == kHonest;
      return answers ? Answer().Trailers(Ms(50), StatusCode::kOk) : Silence();
    });
  }

  SimHost& Pay(const std::string& key = "k", int caller = 0, absl::Duration timeout = kNoDeadline) {
    SimHost& call =
        sidecar_.NewCall({.timeout = timeout, .dedupe_key = key, .method = "/shop.Pay/Charge"},
                         nullptr, {.caller = caller});
    call.Send(kMessage, /*end=*/true);
    return call;
  }
  void Deliver(SimHost& call, const Answer& answer) {
    for (const Answer::Step& step : answer.steps()) call.Deliver(call.attempts(), step);
    clock_.RunFor(Ms(0));
  }
  void Reply(SimHost& call) {
    Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), "paid").Trailers(Ms(0), StatusCode::kOk));
  }
  // Whether the call goes on when its caller goes now.
  bool GoesOn(SimHost& call) {
    call.Leave();
    return !call.finished();
  }
  void RunUntil(absl::Duration at) { clock_.RunFor(at - clock_.elapsed()); }
  size_t Keys() { return sidecar_.dedupe()->GetView().keys; }
  int InService() { return sidecar_.guard()->guard().View(clock_.now()).in_flight; }
};

TEST_F(CallAlone, EndsAtItsClaimAndItsKeyIsLost) {
  HasAnswered(sidecar_);
  SimHost& call = Pay();
  RunUntil(absl::Seconds(10));
  EXPECT_TRUE(GoesOn(call));
  SimHost& again = Pay();
  RunUntil(absl::Seconds(60) - Ms(1));
  EXPECT_FALSE(call.finished());
  EXPECT_EQ(InService(), 1);
  RunUntil(absl::Seconds(60));
  EXPECT_EQ(call.caller().finished_at, absl::Seconds(60));
  EXPECT_EQ(call.record().code, StatusCode::kCancelled);
  EXPECT_EQ(call.attempt(1).cancelled_at, absl::Seconds(60));
  EXPECT_EQ(call.attempt(1).judged, std::nullopt) << "it says nothing about the service";
  EXPECT_EQ(InService(), 0);
  clock_.RunFor(Ms(0));
  EXPECT_EQ(again.caller().code, StatusCode::kFailedPrecondition);
  EXPECT_EQ(again.caller().message,
            "the first call with this idempotency key was lost; it may have run");
}

TEST_F(CallAlone, EndsAtOnceIfItsClaimIsOver) {
  SimHost& call = Pay();
  RunUntil(absl::Seconds(61));
  EXPECT_FALSE(call.finished()) << "its caller waits";
  EXPECT_FALSE(GoesOn(call));
  EXPECT_EQ(Pay().caller().code, StatusCode::kFailedPrecondition);
}

TEST_F(CallAlone, EndsAtItsOwnDeadlineIfThatIsSooner) {
  SimHost& call = Pay("k", 0, absl::Seconds(5));
  EXPECT_TRUE(GoesOn(call));
  RunUntil(absl::Seconds(60));
  EXPECT_EQ(call.caller().finished_at, absl::Seconds(5));
}

TEST_F(CallAlone, ItsClaimBeginsAsItGetsTheKey) {
  SimHost& first = Pay();
  SimHost& second = Pay();
  RunUntil(absl::Seconds(40));
  Deliver(first, Answer().Trailers(Ms(0), StatusCode::kUnavailable));
  ASSERT_EQ(second.attempts(), 1);
  EXPECT_TRUE(GoesOn(second));
  RunUntil(absl::Seconds(200));
  EXPECT_EQ(second.caller().finished_at, absl::Seconds(100));
}

TEST_F(CallAlone, EndsAtTheSecondMessageOfItsAnswer) {
  SimHost& call = Pay();
  EXPECT_TRUE(GoesOn(call));
  Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), "one"));
  EXPECT_FALSE(call.finished());
  clock_.RunFor(absl::Seconds(1));
  EXPECT_FALSE(call.finished()) << "it may be slow to end";
  Deliver(call, Answer().Message(Ms(0), "two"));
  EXPECT_TRUE(call.finished());
  EXPECT_TRUE(call.attempt(1).cancelled_at.has_value());
  EXPECT_EQ(InService(), 0);
}

TEST_F(CallAlone, EndsAtOnceIfItsAnswerHasHadASecondMessage) {
  SimHost& call = Pay();
  Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), "one").Message(Ms(0), "two"));
  EXPECT_FALSE(GoesOn(call));
}

TEST_F(CallAlone, EndsAtOnceWhileItWaitsForASlotAndItsKeyIsFree) {
  for (int i = 0; i < 8; ++i) Pay("");
  SimHost& call = Pay();
  ASSERT_EQ(call.attempts(), 0);
  EXPECT_EQ(Keys(), 1u);
  EXPECT_FALSE(GoesOn(call));
  EXPECT_EQ(Keys(), 0u);
  EXPECT_EQ(sidecar_.guard()->guard().View(clock_.now()).waiting, 0);
}

TEST_F(CallAlone, EndsAtOnceWhileItWaitsForAConnectionAndItsKeyIsFree) {
  sidecar_.connect_wait = absl::Seconds(100);
  sidecar_.endpoints().SetReachable(0, false);
  SimHost& call = Pay();
  ASSERT_EQ(call.attempts(), 1);
  EXPECT_FALSE(call.finished());
  EXPECT_EQ(InService(), 1);
  EXPECT_FALSE(GoesOn(call));
  EXPECT_EQ(Keys(), 0u);
  EXPECT_EQ(InService(), 0);
}

TEST_F(CallAlone, EndsAtOnceBetweenTwoAttemptsAndItsKeyIsFreeIfNoneRan) {
  sidecar_.inbound = false;
  policy_.retry.max_attempts = 2;
  SimHost& refused = Pay("refused");
  Deliver(refused, Answer().Trailers(Ms(0), StatusCode::kUnavailable));
  SimHost& reset = Pay("reset");
  Deliver(reset, Answer().ConnectionLost(Ms(0)));
  EXPECT_FALSE(refused.finished() || reset.finished()) << "they wait for their retries";
  EXPECT_FALSE(GoesOn(refused));
  EXPECT_FALSE(GoesOn(reset));
  EXPECT_EQ(InService(), 0);
  EXPECT_EQ(Pay("refused").attempts(), 1);
  EXPECT_EQ(Pay("reset").attempts(), 0) << "nobody knows whether it ran";
}

TEST_F(CallAlone, MakesNoFurtherAttempt) {
  sidecar_.inbound = false;
  policy_.retry.max_attempts = 2;
  SimHost& call = Pay();
  EXPECT_TRUE(GoesOn(call));
  Deliver(call, Answer().Trailers(Ms(0), StatusCode::kUnavailable));
  EXPECT_TRUE(call.finished());
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(Keys(), 0u) << "the application wants it again, and its caller repeats it";
}

TEST_F(CallAlone, EndsWhereItsStreamIsRefusedAndItsKeyIsFree) {
  SimHost& call = Pay();
  EXPECT_TRUE(GoesOn(call));
  Deliver(call, RefusedStream());
  EXPECT_TRUE(call.finished());
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(Keys(), 0u);
}

TEST_F(CallAlone, GoesOnInTheHedgesThatHaveLeft) {
  sidecar_.idempotent = true;
  policy_.hedge = HedgePolicy{.delay = Ms(10), .max_attempts = 3};
  SimHost& call = Pay();
  clock_.RunFor(Ms(15));
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_TRUE(GoesOn(call));
  clock_.RunFor(Ms(50));
  EXPECT_EQ(call.attempts(), 2) << "there is no third one";
  call.Deliver(1, Answer().Trailers(Ms(0), StatusCode::kUnavailable).steps().front());
  EXPECT_FALSE(call.finished());
  Reply(call);
  EXPECT_EQ(Pay().caller().body, "paid");
}

TEST_F(CallAlone, OfOneCallerHoldsAQuarterOfTheSlotsAndOfAllHalf) {
  std::vector<SimHost*> calls;
  for (int i = 0; i < 8; ++i) calls.push_back(&Pay(absl::StrCat(i), /*caller=*/i / 3));
  std::vector<bool> goes_on;
  for (SimHost* call : calls) goes_on.push_back(GoesOn(*call));
  EXPECT_EQ(goes_on, std::vector<bool>({true, true, false, true, true, false, false, false}));
  EXPECT_EQ(InService(), 4);
  EXPECT_TRUE(calls[2]->record().lone_calls_full);
  EXPECT_EQ(calls[2]->caller().code, StatusCode::kCancelled);
  RunUntil(absl::Seconds(59));
  EXPECT_EQ(Pay("2", 9, absl::Seconds(10)).attempts(), 0) << "it may have run";
  Reply(*calls[0]);
  SimHost& other = Pay("other", 0);
  EXPECT_TRUE(GoesOn(other)) << "the place is free again";
}

TEST_F(CallAlone, HasRoomForAHundredOfACallerWhereTheGuardHasNoLimit) {
  policy_.guard->concurrency = {.kind = ConcurrencyPolicy::Kind::kNone};
  int go_on = 0;
  for (int i = 0; i < 6000; ++i) go_on += GoesOn(Pay(absl::StrCat(i)));
  EXPECT_EQ(go_on, 100);
  for (int i = 0; i < 6000; ++i) go_on += GoesOn(Pay(absl::StrCat("other", i), 1 + i % 100));
  EXPECT_EQ(go_on, 200);
}

// Callers that come again and again, and go at once, against one that stays.
TEST_F(CallAlone, LeavesHonestCallersTheirSlots) {
  int honest = 0, good = 0;
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0) {
      std::vector<SimHost*> attack;
      for (int n = 0; n < 25; ++n) attack.push_back(&Pay(absl::StrCat(i, "-", n), 1));
      for (SimHost* call : attack) call->Leave();
    }
    SimHost& call = Pay("", kHonest, absl::Seconds(1));
    clock_.RunFor(Ms(60));
    ++honest;
    good += call.caller().code == StatusCode::kOk;
  }
  EXPECT_EQ(good, honest);
  EXPECT_LE(InService(), 2);
}

// Which calls have keys.
class StreamKey : public CallAlone {
 protected:
  bool TakesKey() {
    const size_t before = Keys();
    Pay(absl::StrCat(++number_));
    return Keys() > before;
  }
  // A call of two messages, and its key.
  SimHost& Upload() {
    SimHost& call = sidecar_.NewCall({.dedupe_key = "k", .method = "/shop.Pay/Charge"});
    call.Send(kMessage);
    call.Send(kMessage, /*end=*/true);
    return call;
  }
  int number_ = 0;
};

TEST_F(StreamKey, AMethodThatIsDescribedAsAStreamTakesNone) {
  sidecar_.described = CallKind::kStream;
  EXPECT_FALSE(TakesKey());
}

TEST_F(StreamKey, AMethodThatIsDescribedAsUnaryTakesThem) {
  sidecar_.described = CallKind::kUnary;
  EXPECT_TRUE(TakesKey());
}

TEST_F(StreamKey, AMethodTakesNoneOnceAnAnswerHadASecondMessage) {
  SimHost& call = Pay();
  Deliver(call, Answer().Head(Ms(0)).Message(Ms(0), "one"));
  clock_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(TakesKey()) << "it may be a unary one that is slow to end";
  Deliver(call, Answer().Message(Ms(0), "two"));
  EXPECT_FALSE(TakesKey());
  Deliver(call, Answer().Trailers(Ms(0), StatusCode::kOk));
  EXPECT_EQ(Pay("k").attempts(), 1) << "it runs as without a key";
  Reply(Pay(""));
  EXPECT_FALSE(TakesKey()) << "an answer of one message does not change that";
}

TEST_F(StreamKey, ACallWithSeveralMessagesAndOneAnswerKeepsIts) {
  SimHost& call = Upload();
  EXPECT_TRUE(GoesOn(call));
  Reply(call);
  EXPECT_EQ(Upload().caller().body, "paid");
}

}  // namespace
}  // namespace levee
