// SPDX-License-Identifier: Apache-2.0
// Callers that open calls only to have them reset, and callers that merely change their mind.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/mebibyte.h"
#include "integration/scripted.h"

namespace levee {
namespace {

// Attacks are to be faster than limits.resets_per_second on any machine. Twice as many may come at
// once.
constexpr int kResetsPerSecond = 1;
constexpr char kFewResets[] = "limits: {resets_per_second: 1}\n";

// The calls that reach an upstream which answers every complete one.
struct UpstreamLoad {
  std::atomic<int> calls = 0;
  std::atomic<int> most_at_once = 0;

  RawUpstream::Script Script() {
    return [this](UpstreamPeer& peer) {
      if (!peer.Handshake()) return;
      std::set<int32_t> open;
      while (const auto frame = peer.ReadMeaningful()) {
        if (frame->type == FrameType::kHeaders) {
          peer.Decode(*frame);
          ++calls;
          open.insert(frame->stream);
        }
        most_at_once = std::max(most_at_once.load(), static_cast<int>(open.size()));
        if (frame->type == FrameType::kReset) open.erase(frame->stream);
        if (frame->type == FrameType::kReset || !frame->ends_stream()) continue;
        peer.Answer(frame->stream);
        open.erase(frame->stream);
      }
    };
  }
};

struct Attacked {
  explicit Attacked(const std::string& limits = kFewResets) : wire(load.Script(), limits) {
    EXPECT_EQ(CallStatus(), "0");
    resident = wire.sidecar.process().ResidentBytes();
  }

  // Of one call of an honest caller with a connection of its own.
  std::string CallStatus() { return wire.client.AnswerTo(wire.client.Call()).grpc_status(); }

  // Between `pieces` of the attack it makes calls.
  void Attack(Attacker& attacker, int pieces, const std::function<std::string(int)>& piece) {
    for (int i = 0; i < pieces && attacker.Send(piece(i)); ++i) {
      if (i % 100 == 0) {
        EXPECT_EQ(CallStatus(), "0");
      }
    }
  }

  void ExpectEndFor(Attacker& attacker) {
    EXPECT_EQ(attacker.AwaitEnd(), kCalm);
    EXPECT_EQ(Hits(wire.sidecar, "resets_per_second"), 1);
    EXPECT_EQ(CallStatus(), "0");
  }

  UpstreamLoad load;
  Wire wire;
  long resident = 0;
};

TEST(AttackByResets, C2_OpeningAndResettingCallsEndsTheConnectionAlone) {
  Attacked run;
  const auto began = std::chrono::steady_clock::now();
  const int honest = run.load.calls;
  Attacker attacker(run.wire.sidecar.address());
  run.Attack(attacker, 100'000, [](int i) { return OpenCall(i) + ResetCall(i); });
  run.ExpectEndFor(attacker);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const double allowed = 2 * kResetsPerSecond + kResetsPerSecond * std::ceil(took.count());
  // One in a hundred calls was an honest one.
  EXPECT_LE(run.load.calls - honest, 1.02 * allowed + 2);
  EXPECT_TRUE(run.wire.sidecar.WaitForSum("levee_active_calls", {}, 0));
  EXPECT_LT(run.wire.sidecar.process().ResidentBytes() - run.resident,
            16 * kMiB + kSanitizerMayKeep);
}

// SessionLimits has it on virtual time that as many may come in every further second.
TEST(AttackByResets, C3_TwiceTheCancelledCallsOfASecondAreHonestAtOnce) {
  Attacked run("limits: {resets_per_second: 1000}\n");
  Attacker caller(run.wire.sidecar.address());
  constexpr int calls = 2 * 1000;
  for (int i = 0; i < calls; ++i) ASSERT_TRUE(caller.Send(OpenCall(i) + ResetCall(i)));
  EXPECT_TRUE(run.wire.sidecar.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, calls));
  EXPECT_FALSE(caller.ended());
  EXPECT_EQ(run.wire.sidecar.Sum("levee_downstream_connections"), 2);
  EXPECT_EQ(Hits(run.wire.sidecar, "resets_per_second"), 0);
}

TEST(AttackByResets, C3_CallsThatHaveAResponseHeadMayBeCancelledWithoutEnd) {
  RawUpstream upstream([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    while (const auto head = peer.NextHead()) peer.AnswerHead(head->stream);
  });
  SidecarProcess sidecar(
      {.endpoints = {upstream.address()}, .more = "limits: {resets_per_second: 1}\n"});
  RawClient caller(sidecar.address());
  for (int i = 0; i < 200; ++i) {
    const int32_t stream = caller.Open(RawClient::CallHead(), false);
    const auto head = caller.ReadMeaningful();
    ASSERT_TRUE(head.has_value()) << "after " << i;
    ASSERT_EQ(head->type, FrameType::kHeaders);
    caller.Decode(*head);
    caller.WriteReset(stream, H2Error::kCancel);
  }
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, 200));
  EXPECT_EQ(sidecar.Sum("levee_downstream_connections"), 1);
  EXPECT_EQ(Hits(sidecar, "resets_per_second"), 0);
}

// Clients of gRPC reset a call whose deadline has passed before they could write its head.
TEST(AttackByResets, H20_AResetOfACallThatNeverCameEndsNoOther) {
  Attacked run;
  RawClient& caller = run.wire.client;
  const int32_t waiting = caller.Open(RawClient::CallHead(), false);
  caller.WriteReset(waiting + 2, H2Error::kCancel);
  caller.WriteHeaders(waiting + 4, RawClient::CallHead(), true);
  EXPECT_EQ(caller.AnswerTo(waiting + 4).grpc_status(), "0");
  caller.WriteData(waiting, GrpcMessage("hello"), true);
  EXPECT_EQ(caller.AnswerTo(waiting).grpc_status(), "0");
}

// How a caller has its own call reset.
struct Provocation {
  const char* name;
  std::string (*frames)(int call);
};

class ProvokedResets : public testing::TestWithParam<Provocation> {};

TEST_P(ProvokedResets, C4_CountLikeTheCallersOwn) {
  Attacked run;
  Attacker attacker(run.wire.sidecar.address());
  run.Attack(attacker, 10'000, GetParam().frames);
  run.ExpectEndFor(attacker);
}

std::string OverflowWindow(int call) {
  return OpenCall(call) +
         EncodeFrame(FrameType::kWindowUpdate, 0, StreamOf(call), Number(0x7fffffff));
}

std::string MalformedHead(int call) { return OpenCall(call, {{"X-Upper-Case", "1"}}); }

std::string DataAfterTheEnd(int call) {
  return EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, StreamOf(call),
                     Encode(RawClient::CallHead())) +
         EncodeFrame(FrameType::kData, 0, StreamOf(call), "x");
}

INSTANTIATE_TEST_SUITE_P(By, ProvokedResets,
                         testing::Values(Provocation{"OverflowingAWindow", OverflowWindow},
                                         Provocation{"AMalformedHead", MalformedHead},
                                         Provocation{"DataAfterTheEnd", DataAfterTheEnd},
                                         Provocation{"AResetOfNone", ResetCall}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(AttackByResets, C4_CallsThatAreNotResetKeepTheirPlaces) {
  Wire wire([](UpstreamPeer& peer) { peer.ReadToEnd(); }, "limits: {streams_per_connection: 4}\n");
  for (int i = 0; i < 6; ++i) wire.client.Open(RawClient::CallHead(), false);
  for (const int call : {4, 5}) {
    EXPECT_EQ(wire.client.AnswerTo(StreamOf(call)).reset,
              static_cast<uint32_t>(H2Error::kRefusedStream));
  }
  // The fourth took the last place.
  EXPECT_EQ(Hits(wire.sidecar, "streams_per_connection"), 3);
  EXPECT_EQ(wire.sidecar.Sum("levee_active_calls"), 4);
}

TEST(AttackByResets, C4_TheUpstreamNeverCarriesMoreThanACallerMayHave) {
  Attacked run("limits: {streams_per_connection: 4}\n");
  std::string frames;
  for (int call = 0; call < 800; call += 4) {
    for (int i = call; i < call + 4; ++i) frames += OpenCall(i);
    for (int i = call; i < call + 4; ++i) frames += ResetCall(i);
  }
  Attacker attacker(run.wire.sidecar.address());
  ASSERT_TRUE(attacker.Send(frames));
  EXPECT_EQ(run.CallStatus(), "0");
  EXPECT_TRUE(run.wire.sidecar.WaitForSum("levee_active_calls", {}, 0));
  // The honest caller has one.
  EXPECT_LE(run.load.most_at_once, 4 + 1);
}

}  // namespace
}  // namespace levee
