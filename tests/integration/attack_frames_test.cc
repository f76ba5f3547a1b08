// SPDX-License-Identifier: Apache-2.0
// Frames that carry nothing: by the million, and as honest callers send them.
#include <atomic>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/scripted.h"

namespace levee {
namespace {

struct IdleKind {
  const char* name;
  std::string frame;
};

void PrintTo(const IdleKind& kind, std::ostream* out) { *out << kind.name; }

// A flood on a connection with one open call.
class IdleFrames : public testing::TestWithParam<std::tuple<IdleKind, Attacker::Reading>> {};

TEST_P(IdleFrames, C7_EndTheConnectionAlone) {
  const auto& [kind, reading] = GetParam();
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  const long resident = wire.sidecar.process().ResidentBytes();
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += kind.frame;
  Attacker attacker(wire.sidecar.address(), reading);
  attacker.Send(OpenCall(0));
  attacker.Flood(2'000, [&](int) { return hundred; });
  if (reading == Attacker::Reading::kAll) {
    EXPECT_EQ(attacker.AwaitEnd(), kCalm);
  }
  // Either of idle_frames_per_second and pending_frames.
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_limit_hits_total", {"frames"}, 1));
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_downstream_connections", {}, 1));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  EXPECT_LT(wire.sidecar.process().ResidentBytes() - resident, 16 * kMiB + kSanitizerMayKeep);
}

INSTANTIATE_TEST_SUITE_P(
    Of, IdleFrames,
    testing::Combine(
        testing::Values(
            IdleKind{"Settings", EncodeFrame(FrameType::kSettings, 0, 0, "")},
            IdleKind{"Pings", EncodeFrame(FrameType::kPing, 0, 0, "12345678")},
            IdleKind{"PingAcknowledgements", EncodeFrame(FrameType::kPing, kAck, 0, "12345678")},
            IdleKind{"Priorities",
                     EncodeFrame(FrameType::kPriority, 0, 1, std::string("\0\0\0\0\7", 5))},
            IdleKind{"EmptyData", EncodeFrame(FrameType::kData, 0, 1, "")},
            IdleKind{"PaddedEmptyData", EncodeFrame(FrameType::kData, kPadded, 1, Padded("", 1))},
            IdleKind{"WindowUpdates", EncodeFrame(FrameType::kWindowUpdate, 0, 0, Number(1))},
            IdleKind{"StreamWindowUpdates", EncodeFrame(FrameType::kWindowUpdate, 0, 1, Number(1))},
            IdleKind{"UnknownFrames", EncodeFrame(static_cast<FrameType>(0xfa), 0, 0, "x")}),
        testing::Values(Attacker::Reading::kAll, Attacker::Reading::kNothing)),
    [](const auto& param) {
      const bool reads = std::get<1>(param.param) == Attacker::Reading::kAll;
      return std::get<0>(param.param).name + std::string(reads ? "Read" : "NotRead");
    });

// A call whose body comes in frames of one byte.
std::string TinyFrames(int count) {
  std::string frames;
  for (int i = 0; i < count; ++i) frames += EncodeFrame(FrameType::kData, 0, 1, "x");
  return frames;
}

TEST(TinyFramesSoak, H19_LeaveHonestCallsTheirTurns) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  std::atomic<int> flooding = 4;
  std::vector<std::thread> attackers;
  const std::string thousand = TinyFrames(1000);
  const std::string begun = GrpcMessage(std::string(200'000, 'x')).substr(0, 5);
  for (int i = 0; i < flooding; ++i) {
    attackers.emplace_back([&] {
      for (int connection = 0; connection < 10; ++connection) {
        RawClient attacker(sidecar.address());
        attacker.connection().Send(OpenCall(0) + EncodeFrame(FrameType::kData, 0, 1, begun));
        for (int sent = 0; sent < 100; ++sent) attacker.connection().Send(thousand);
        attacker.ReadSettled(1);
      }
      --flooding;
    });
  }
  RawClient honest(sidecar.address());
  int calls = 0;
  for (; flooding > 0; ++calls) EXPECT_EQ(honest.AnswerTo(honest.Call()).grpc_status(), "0");
  for (std::thread& attacker : attackers) attacker.join();
  // Some 800; 24 if whole reads of such frames are handled in a turn.
  EXPECT_GE(calls, 100);
}

// The kernel drops what it has not sent yet of a connection that is closed while input waits.
TEST(Goodbye, ReachesACallerThatStillSendsAndHasNotReadYet) {
  const std::string large(256 * 1024, 'a');
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
              peer.Answer(request.stream, large);
            }),
            "", std::string("\0\4", 2) + Number(kMiB));
  wire.client.WriteWindowUpdate(0, kMiB);
  wire.client.Call();
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_calls_total", {}, 1));
  const std::string bad = EncodeFrame(FrameType::kData, 0, 0, "");
  wire.client.connection().Send(bad + std::string(kMiB, '\0'));
  EXPECT_EQ(wire.client.ReadGoaway(), static_cast<uint32_t>(H2Error::kProtocol));
}

// As many at once as ten seconds allow, here 500; honest callers send more than that below.
constexpr char kFewIdleFrames[] = "limits: {idle_frames_per_second: 50}\n";

TEST(HonestIdleFrames, C7_APingWithAllDataThatIsReadIsWelcome) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = kFewIdleFrames});
  RawClient caller(sidecar.address());
  HeaderList head = RawClient::CallHead();
  head[2].second = "/test.Echo/Stream";
  const int32_t stream = caller.Open(head, false);
  caller.WriteData(stream, GrpcMessage("1000 16000"), true);
  size_t bytes = 0;
  int pings = 0;
  // Windows are returned for each frame, too.
  for (auto frame = caller.Read(); frame.has_value(); frame = caller.Read()) {
    if (frame->type == FrameType::kHeaders) caller.Decode(*frame);
    if (frame->type == FrameType::kData) {
      bytes += frame->payload.size();
      caller.Write(FrameType::kPing, 0, 0, "estimate");
      ++pings;
    }
    if (frame->ends_stream() && frame->type == FrameType::kHeaders) break;
  }
  EXPECT_EQ(bytes, 1000u * 16005);
  EXPECT_GT(pings, 500);
  EXPECT_EQ(caller.AnswerTo(caller.Call()).grpc_status(), "0");
  EXPECT_EQ(Hits(sidecar, "idle_frames_per_second"), 0);
}

TEST(HonestIdleFrames, C7_WindowUpdatesAmongDataAreWelcome) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = kFewIdleFrames});
  RawClient caller(sidecar.address());
  HeaderList head = RawClient::CallHead();
  head[2].second = "/test.Echo/Collect";
  caller.ReadSettled(1);  // Before the sidecar's settings are acknowledged, windows are small.
  const int32_t stream = caller.Open(head, false);
  for (int i = 0; i < 10'000; ++i) {
    caller.WriteData(stream, GrpcMessage("0123456789"), false);
    caller.WriteWindowUpdate(0, 1);
  }
  caller.WriteData(stream, "", true);
  const RawAnswer answer = caller.AnswerTo(stream);
  EXPECT_EQ(answer.body.size(), 5u + 100'000);
  EXPECT_EQ(answer.grpc_status(), "0");
  EXPECT_EQ(Hits(sidecar, "idle_frames_per_second"), 0);
}

TEST(HonestIdleFrames, C7_AConnectionWithoutCallsMayPing) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = kFewIdleFrames});
  RawClient caller(sidecar.address());
  // Twice each, which is fewer than may come at once.
  for (int i = 0; i < 200; ++i) caller.ReadSettled(1);
  EXPECT_EQ(caller.AnswerTo(caller.Call()).grpc_status(), "0");
}

}  // namespace
}  // namespace levee
