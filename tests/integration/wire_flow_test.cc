// SPDX-License-Identifier: Apache-2.0
// Windows, frame sizes and limits on streams, which peers choose and change at any time.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;

TEST(WireFlow, WindowsOfOneByteOnBothSidesCarryACall) {
  const std::string one = Setting(SettingId::kInitialWindowSize, 1);
  Wire wire(ForEach(AnswerWithBody, one), "", one);
  const std::string message = "a message of some length, byte by byte";
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({}, message));
  EXPECT_EQ(answer.body, GrpcMessage(message));
  EXPECT_EQ(answer.grpc_status(), "0");
}

// Reads a body of 300 bytes with a window that began as 10 and changes: how much comes each time.
std::vector<size_t> ReadWithChangingWindow(FramePeer& peer, int32_t stream) {
  const auto set = [&](uint32_t size) {
    peer.Write(FrameType::kSettings, 0, 0, Setting(SettingId::kInitialWindowSize, size));
    return peer.ReadSettled(stream).size();
  };
  const auto update = [&](uint32_t bytes) {
    peer.WriteWindowUpdate(stream, bytes);
    return peer.ReadSettled(stream).size();
  };
  return {peer.ReadSettled(stream).size(), set(60), set(20), update(40), update(45), set(1000)};
}

// Lowered from 60 to 20 with 60 used up, the window is at -40.
const auto kRightSizes = ElementsAre(10, 50, 0, 0, 45, 195);

TEST(WireFlow, TheUpstreamsInitialWindowMayChangeWithinACall) {
  Told<bool> written;
  Told<std::vector<size_t>> sizes;
  Wire wire([&](UpstreamPeer& peer) {
    peer.KeepWindowsShut();
    if (!peer.Handshake(Setting(SettingId::kInitialWindowSize, 10))) return;
    const auto request = peer.NextHead();
    if (!request.has_value()) return;
    written.Next();
    sizes.Tell(ReadWithChangingWindow(peer, request->stream));
    peer.ReadToEnd();
  });
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  wire.client.WriteData(stream, std::string(300, 'x'), false);
  wire.client.ReadSettled(stream);
  written.Tell(true);
  EXPECT_THAT(sizes.Next().value_or(std::vector<size_t>()), kRightSizes);
}

TEST(WireFlow, TheCallersInitialWindowMayChangeWithinACall) {
  Told<bool> written;
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
              peer.AnswerHead(request.stream);
              peer.WriteData(request.stream, std::string(300, 'x'), false);
              peer.ReadSettled(request.stream);
              written.Tell(true);
            }),
            "", Setting(SettingId::kInitialWindowSize, 10));
  wire.client.KeepWindowsShut();
  const int32_t stream = wire.client.Call();
  ASSERT_TRUE(written.Next().has_value());
  EXPECT_THAT(ReadWithChangingWindow(wire.client, stream), kRightSizes);
}

// The size of the largest DATA frame of the next message, which has that many bytes.
size_t LargestFrame(FramePeer& peer, size_t bytes) {
  size_t largest = 0, total = 0;
  while (const auto frame = peer.ReadMeaningful()) {
    if (frame->type == FrameType::kHeaders) peer.Decode(*frame);
    if (frame->type == FrameType::kData) {
      largest = std::max(largest, frame->payload.size());
      total += frame->payload.size();
    }
    if (frame->ends_stream()) break;
  }
  EXPECT_EQ(total, bytes);
  return largest;
}

TEST(WireFlow, NoFrameIsLargerThanWhatPeersTakeUnasked) {
  Told<size_t> largest;
  Wire wire([&](UpstreamPeer& peer) {
    peer.Handshake();
    largest.Tell(LargestFrame(peer, 100'005));
    AnswerWithBody(peer, {.stream = 1, .head = {}, .body = std::string(100'000, 'b')});
    peer.ReadToEnd();
  });
  wire.client.ReadSettled(0);  // Until its SETTINGS are acknowledged the window is the default.
  wire.client.Call({}, std::string(100'000, 'b'));
  EXPECT_LE(LargestFrame(wire.client, 100'000), 16'384u);
  EXPECT_LE(largest.Next(), 16'384u);
}

TEST(WireFlow, ACallersFrameAboveTheSidecarsLimitEndsItsConnection) {
  Wire wire(ForEach(AnswerWithBody));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  wire.client.Write(FrameType::kData, 0, stream, std::string(16'385, 'x'));
  EXPECT_EQ(wire.client.ReadGoaway(), static_cast<uint32_t>(H2Error::kFrameSize));
}

TEST(WireFlow, AnUpstreamsFrameAboveTheSidecarsLimitCostsItsConnection) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
                peer.AnswerHead(request.stream);
                peer.Write(FrameType::kData, 0, request.stream, std::string(16'385, 'x'));
              }),
              kNoRetry);
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
}

TEST(WireFlow, AWindowThatOverflowsEndsTheCallAlone) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
                peer.WriteWindowUpdate(request.stream, 0x7fffffff);
              }),
              kNoRetry);
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 1);
}

void SetMaxStreams(FramePeer& peer, uint32_t streams) {
  peer.Write(FrameType::kSettings, 0, 0, Setting(SettingId::kMaxConcurrentStreams, streams));
}

TEST(WireFlow, ALimitOnStreamsThatIsLoweredHoldsForNewCallsOnly) {
  Told<bool> lowered, arrived, second_connection;
  Wire wire([&](UpstreamPeer& peer) {
    if (peer.number() > 1) {  // Dialled for the call that finds no place; never ready.
      second_connection.Tell(true);
      return peer.ReadToEnd();
    }
    if (!peer.Handshake(Setting(SettingId::kMaxConcurrentStreams, 2))) return;
    peer.NextHead();
    peer.NextHead();
    SetMaxStreams(peer, 1);
    peer.ReadSettled(0);
    lowered.Tell(true);
    arrived.Next();
    EXPECT_TRUE(second_connection.Next().has_value());
    peer.Answer(1);
    EXPECT_EQ(peer.ReadSettled(5), "") << "two streams";
    peer.Answer(3);
    peer.AnswerRest();
  });
  wire.client.Call();
  wire.client.Call();
  ASSERT_TRUE(lowered.Next().has_value());
  wire.client.Call();
  wire.client.ReadSettled(0);
  arrived.Tell(true);
  for (const int32_t stream : {1, 3, 5}) {
    EXPECT_EQ(wire.client.AnswerTo(stream).body, GrpcMessage("fine")) << stream;
  }
}

TEST(WireFlow, ALimitOfNoStreamsHoldsCallsUntilItIsRaised) {
  Told<bool> second_connection;
  Wire wire([&](UpstreamPeer& peer) {
    if (peer.number() > 1) {  // Dialled for the call that finds no place; never ready.
      second_connection.Tell(true);
      return peer.ReadToEnd();
    }
    if (!peer.Handshake(Setting(SettingId::kMaxConcurrentStreams, 0))) return;
    EXPECT_TRUE(second_connection.Next().has_value());
    SetMaxStreams(peer, 1);
    peer.AnswerRest();
  });
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).body, GrpcMessage("fine"));
}

TEST(WireFlow, ACallWhoseDeadlinePassesWhileItWaitsForAPlaceIsNeverSent) {
  Told<bool> expired;
  Wire wire([&](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    if (!peer.Handshake(Setting(SettingId::kMaxConcurrentStreams, 0))) return;
    expired.Next();
    SetMaxStreams(peer, 10);
    const auto request = peer.NextRequest();
    if (request.has_value()) peer.Answer(request->stream, Values(request->head, "x-which"));
    peer.ReadToEnd();
  });
  const RawAnswer answer =
      wire.client.AnswerTo(wire.client.Call({{"grpc-timeout", "30m"}, {"x-which", "first"}}));
  EXPECT_EQ(answer.grpc_status(), "4");
  expired.Tell(true);
  const RawAnswer second = wire.client.AnswerTo(wire.client.Call({{"x-which", "second"}}));
  EXPECT_EQ(second.body, GrpcMessage("second"));
}

// Waits until so much may be sent. False if it never may.
bool WaitForWindow(FramePeer& peer, int64_t bytes) {
  while (peer.connection_window() < bytes) {
    if (!peer.Read().has_value()) return false;
  }
  return true;
}

constexpr size_t kDropped = 200 * 1024;  // Thirty times this is far more than the windows.

TEST(WireFlow, WindowForAnAnswerThatIsDroppedIsReturned) {
  Told<bool> stuck;
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    if (!WaitForWindow(peer, kDropped)) stuck.Tell(true);
    peer.WriteHeaders(request.stream, {{":status", "404"}, {"content-type", "text/html"}}, false);
    peer.WriteData(request.stream, std::string(kDropped, 'd'), true);
  }));
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "12");
  }
  EXPECT_EQ(wire.upstream.connections(), 1);
}

TEST(WireFlow, WindowForARequestThatIsDroppedIsReturned) {
  Wire wire(ForEach(AnswerWithBody));
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(WaitForWindow(wire.client, kDropped)) << i;
    const int32_t stream =
        wire.client.Open(RawClient::CallHead({{"x-big", std::string(150'000, 'b')}}), false);
    wire.client.WriteData(stream, std::string(kDropped, 'd'), true);
    EXPECT_EQ(wire.client.AnswerTo(stream).grpc_status(), "8");
  }
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
}

TEST(WireFlow, ACallerGetsBackTheWindowThatItUsedAndNoMore) {
  constexpr int64_t kMessage = 2 << 20;
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.Answer(request.stream, std::to_string(request.body.size()));
  }));
  wire.client.ReadSettled(0);
  wire.client.LeavePingsUnanswered();
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  const std::string message = GrpcMessage(std::string(kMessage - 5, 'm'));
  int64_t window = 256 * 1024;  // As the sidecar's SETTINGS say.
  int64_t used = 0;
  int64_t returned = 0;
  while (used < kMessage) {
    if (window - used + returned >= 16'384 && wire.client.connection_window() >= 16'384) {
      wire.client.WriteData(stream, std::string_view(message).substr(used, 16'384), false);
      used += 16'384;
      continue;
    }
    const auto frame = wire.client.Read();
    ASSERT_TRUE(frame.has_value()) << "stuck after " << used;
    if (frame->type != FrameType::kWindowUpdate || frame->stream != stream) continue;
    returned += ReadNumber(frame->payload);
    ASSERT_LE(returned, used);
  }
  EXPECT_GE(returned, kMessage - window);
  wire.client.WriteData(stream, "", true);
  EXPECT_EQ(wire.client.AnswerTo(stream).body, GrpcMessage(std::to_string(kMessage)));
}

TEST(WireFlow, AnEarlyAnswerIsCompleteBeforeTheResetThatEndsTheRequest) {
  const std::string body = GrpcMessage(std::string(5000, 'e'));
  Wire wire(
      [&](UpstreamPeer& peer) {
        peer.Handshake();
        while (const auto request = peer.NextHead()) {
          AnswerWithBody(peer, {.stream = request->stream, .head = {}, .body = body});
        }
      },
      "", Setting(SettingId::kInitialWindowSize, 100));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, body);
  EXPECT_EQ(Values(answer.trailers, "grpc-status"), "0");
  const auto after = wire.client.ReadMeaningful();
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->type, FrameType::kReset);
  EXPECT_EQ(ReadNumber(after->payload), static_cast<uint32_t>(H2Error::kNone));
}

}  // namespace
}  // namespace levee
