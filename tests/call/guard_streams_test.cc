// SPDX-License-Identifier: Apache-2.0
// Streams behind a guard: cells W2 and W2b. Unary calls fare as they do without it.
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "call/call_fixture.h"
#include "sim/loaded_service.h"

namespace levee {
namespace {

constexpr int kUnary = 1;
constexpr int kStream = 2;
constexpr absl::Duration kLong = absl::Seconds(100);

// What the streams of a run are like.
struct Streams {
  int count = 60;
  // The answer of each, that of the n-th.
  std::function<Answer(int n)> answer;
  absl::Duration sends_every = absl::ZeroDuration();  // above zero: its caller sends messages, too
  std::optional<CallKind> described;                  // of their method
  // Each comes so much after the one before.
  absl::Duration apart = absl::Milliseconds(20);
};

Answer Beats(absl::Duration every, absl::Duration first = Ms(1)) {
  Answer answer;
  answer.Head(first);
  for (absl::Duration at = first; at < kLong; at += every) answer.Message(at, "beat");
  return answer;
}

// Unary calls of 5 ms from ten callers in a loop, at a service of eight slots, beside streams that
// take none of them.
class StreamsRun {
 public:
  // `guard`: nullopt: there is none.
  StreamsRun(Streams streams, const std::optional<GuardPolicy>& guard)
      : streams_(std::move(streams)),
        service_(clock_, WorkKind::kFixed, /*slots=*/8, /*seed=*/1),
        unary_(clock_, PolicyOf(guard)) {
    unary_.inbound = true;
    const Service work = service_.Method(Ms(5));
    unary_.AddEndpoint([this, work](SimHost& host, int attempt) {
      if (host.origin().method == kUnary) return work(host, attempt);
      return streams_.answer(static_cast<int>(host.origin().trace));
    });
    unary_.DescribeMethod(kStream, streams_.described);
    for (int i = 0; i < streams_.count; ++i) {
      clock_.After(i * streams_.apart, [this, i] { Open(i); });
    }
    clock_.After(streams_.count * streams_.apart + absl::Seconds(1), [this] {
      for (int i = 0; i < 10; ++i) Call();
    });
    clock_.RunFor(streams_.count * streams_.apart + absl::Seconds(1) + kFor);
  }

  double OkShare() const { return static_cast<double>(ok_) / static_cast<double>(ended_); }
  double CallsPerSecond() const { return static_cast<double>(ok_) / absl::ToDoubleSeconds(kFor); }
  int streams_refused() const { return streams_refused_; }
  GuardView view() { return unary_.guard()->guard().View(clock_.now()); }
  const std::string& refusal() const { return refusal_; }

 private:
  static constexpr absl::Duration kFor = absl::Seconds(20);

  static CallPolicy PolicyOf(const std::optional<GuardPolicy>& guard) {
    CallPolicy policy;
    policy.retry.max_attempts = 1;
    policy.throttle.reset();
    policy.guard = guard;
    return policy;
  }

  void Open(int number) {
    SimHost& stream = unary_.NewCall(
        {}, [this](const SimCaller& caller) { streams_refused_ += caller.code != StatusCode::kOk; },
        {.trace = static_cast<uint64_t>(number), .method = kStream});
    const bool sends = streams_.sends_every > absl::ZeroDuration();
    stream.Send(kMessage, /*end=*/!sends);
    if (sends) SendAgain(SimHost::Ref(stream));
  }

  void SendAgain(SimHost::Ref stream) {
    clock_.After(streams_.sends_every, [this, stream] {
      SimHost* const host = stream.get();
      if (host == nullptr) return;
      host->Send(kMessage);
      SendAgain(stream);
    });
  }

  void Call() {
    SimHost& call = unary_.NewCall({.timeout = absl::Seconds(1)},
                                   [this](const SimCaller& caller) {
                                     ++ended_;
                                     ok_ += caller.code == StatusCode::kOk;
                                     if (caller.code != StatusCode::kOk) refusal_ = caller.message;
                                     // One that is refused at once does not come back at once.
                                     clock_.After(Ms(2), [this] { Call(); });
                                   },
                                   {.method = kUnary});
    call.Send(kMessage, /*end=*/true);
  }

  const Streams streams_;
  SimClock clock_;
  LoadedService service_;
  SimSidecar unary_;
  int64_t ended_ = 0;
  int64_t ok_ = 0;
  int streams_refused_ = 0;
  std::string refusal_;
};

GuardPolicy With(ConcurrencyPolicy::Streams streams) {
  GuardPolicy guard;
  guard.concurrency.streams = streams;
  return guard;
}

// Compares what unary calls see behind `guard: {}` with what they see without a guard.
void ExpectAsDirectly(const Streams& streams) {
  StreamsRun direct(streams, std::nullopt);
  StreamsRun guarded(streams, GuardPolicy());
  EXPECT_GE(guarded.OkShare(), direct.OkShare() - 0.001);
  EXPECT_GE(guarded.CallsPerSecond(), 0.99 * direct.CallsPerSecond());
  EXPECT_EQ(guarded.streams_refused(), 0);
  EXPECT_EQ(guarded.view().streams, 0);
}

TEST(GuardStreams, W2_StreamsThatAreQuietAfterAFirstMessageTakeNoRoomFromUnaryCalls) {
  ExpectAsDirectly({.answer = [](int) { return Answer().Head(Ms(1)).Message(Ms(1), "hello"); }});
}

TEST(GuardStreams, W2_SoDoStreamsWithoutAMessageThatADescriptorKnows) {
  ExpectAsDirectly({.answer = [](int) { return Silence(); }, .described = CallKind::kStream});
}

TEST(GuardStreams, W2_AFreshGuardRefusesNoneOfManyThatOpenAtOnce) {
  ExpectAsDirectly({.count = 160,
                    .answer = [](int) { return Answer().Head(Ms(1)).Message(Ms(1), "hello"); },
                    .apart = absl::ZeroDuration()});
}

TEST(GuardStreams, W2_NorWhereOneOfThemHasEndedWithItsFirstMessage) {
  ExpectAsDirectly({.count = 160,
                    .answer =
                        [](int n) {
                          Answer answer = Answer().Head(Ms(1)).Message(Ms(1), "hello");
                          if (n == 30) answer.Trailers(Ms(2), StatusCode::kOk);
                          return answer;
                        },
                    .apart = Ms(5)});
}

TEST(GuardStreams, W2_NorWhereTheFirstOfThemHasEndedWithItsFirstMessage) {
  ExpectAsDirectly({.answer = [](int n) {
    Answer answer = Answer().Head(Ms(1)).Message(Ms(1), "hello");
    if (n == 0) answer.Trailers(Ms(2), StatusCode::kOk);
    return answer;
  }});
}

TEST(GuardStreams, W2_TwoHundredQuietStreamsDoNeither) {
  ExpectAsDirectly(
      {.count = 200, .answer = [](int) { return Answer().Head(Ms(1)).Message(Ms(1), "hello"); }});
}

TEST(GuardStreams, W2b_ChattyStreamsTakeNoRoomFromUnaryCalls) {
  ExpectAsDirectly({.answer = [](int) { return Beats(Ms(50)); }});
}

TEST(GuardStreams, W2b_AThousandStreamsThatWakeAtOnceTakeNoRoomFromUnaryCalls) {
  ExpectAsDirectly({.count = 1000,
                    .answer =
                        [](int n) {
                          const absl::Duration wakes = absl::Seconds(10) - n * Ms(2);
                          return Answer()
                              .Head(Ms(1))
                              .Message(Ms(1), "hello")
                              .Message(wakes, "news")
                              .Message(wakes + Ms(1), "more");
                        },
                    .apart = Ms(2)});
}

TEST(GuardStreams, W2b_StreamsOfTheCallerTakeNoRoomFromUnaryCalls) {
  ExpectAsDirectly({.answer = [](int) { return Silence(); }, .sends_every = Ms(50)});
}

TEST(GuardStreams, W2b_StreamsBothWaysTakeNoRoomFromUnaryCalls) {
  ExpectAsDirectly({.answer = [](int) { return Beats(Ms(40)); }, .sends_every = Ms(50)});
}

TEST(GuardStreams, StreamsThatCountHoldTheirSlotsAndTheRefusalSaysSo) {
  GuardPolicy guard = With(ConcurrencyPolicy::Streams::kCount);
  guard.concurrency.kind = ConcurrencyPolicy::Kind::kFixed;
  guard.concurrency.fixed = 60;
  StreamsRun run({.answer = [](int) { return Beats(Ms(50)); }}, guard);
  EXPECT_LT(run.OkShare(), 0.01);
  EXPECT_EQ(run.view().streams, 60);
  EXPECT_NE(run.refusal().find("; streams hold 60 of its 60 slots"), std::string::npos)
      << run.refusal();
}

TEST(GuardStreams, RequestsOfSeveralMessagesDoNotEvadeTheGuardOfAUnaryMethod) {
  SimClock clock;
  CallPolicy policy;
  policy.retry.max_attempts = 1;
  policy.guard = GuardPolicy();
  policy.guard->concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 2};
  SimSidecar sidecar(clock, policy);
  sidecar.inbound = true;
  sidecar.AddEndpoint(InTurn({Ok(), Silence()}));
  sidecar.Unary();
  clock.RunFor(absl::Seconds(1));
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    SimHost& call = sidecar.NewCall(
        {}, [&](const SimCaller& caller) { refused += caller.code != StatusCode::kOk; });
    call.Send(kMessage);
    call.Send(kMessage);
  }
  clock.RunFor(absl::Seconds(10));
  EXPECT_EQ(sidecar.tally().attempts, 3);
  EXPECT_GE(refused, 97);
}

}  // namespace
}  // namespace levee
