// SPDX-License-Identifier: Apache-2.0
// Legal HTTP/2 that libraries seldom write: padding, split header blocks, odd frames and sizes.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

// Depends on no stream; weight 17.
const std::string kPriority("\0\0\0\0\x10", 5);

// A header block in a HEADERS frame with padding and priority, and CONTINUATION frames of 20 bytes.
void WriteSplitHeaders(FramePeer& peer, int32_t stream, const HeaderList& fields, bool end) {
  constexpr size_t kPiece = 20;
  const std::string block = Encode(fields);
  peer.Write(FrameType::kHeaders,
             static_cast<uint8_t>(kPadded | kPrioritised | (end ? kEndStream : 0)), stream,
             Padded(kPriority + block.substr(0, kPiece), 200));
  for (size_t at = kPiece; at < block.size(); at += kPiece) {
    const bool last = at + kPiece >= block.size();
    peer.Write(FrameType::kContinuation, last ? kEndHeaders : 0, stream, block.substr(at, kPiece));
  }
}

TEST(WireFrames, SplitAndPaddedHeaderBlocksFromTheCallerAreOneHead) {
  Wire wire(ForEach(TellHead));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), true);
  const std::string plain = Values(wire.client.AnswerTo(stream).trailers, "told");
  WriteSplitHeaders(wire.client, 3, RawClient::CallHead(), true);
  EXPECT_EQ(Values(wire.client.AnswerTo(3).trailers, "told"), plain);
}

TEST(WireFrames, SplitAndPaddedHeaderBlocksFromTheUpstreamReachAGrpcCaller) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    WriteSplitHeaders(peer, request.stream,
                      {{":status", "200"}, {"content-type", "application/grpc"}, {"x-head", "1"}},
                      false);
    peer.WriteData(request.stream, GrpcMessage("fine"), false);
    WriteSplitHeaders(peer, request.stream, {{"grpc-status", "0"}, {"x-trailer", "2"}}, true);
  }));
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.body, "fine");
  EXPECT_EQ(Values(reply.head, "x-head"), "1");
  EXPECT_EQ(Values(reply.trailers, "x-trailer"), "2");
}

TEST(WireFrames, MetadataOfSeveralFramesIsForwardedBothWays) {
  HeaderList big;
  for (int i = 0; i < 8; ++i) big.emplace_back("x-" + std::to_string(i), std::string(5000, '~'));
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    EXPECT_EQ(Values(request.head, "x-7"), std::string(5000, '~'));
    peer.AnswerTrailersOnly(request.stream, 0, big);
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call(big));
  EXPECT_EQ(answer.grpc_status(), "0");
  EXPECT_EQ(Values(answer.head, "x-0"), std::string(5000, '~'));
}

TEST(WireFrames, PeersWithoutHeaderTableAreServed) {
  const std::string no_table = Setting(SettingId::kHeaderTableSize, 0);
  Wire wire(ForEach(TellHead, no_table), "", no_table);
  for (int i = 0; i < 3; ++i) {
    const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"x-same", "value"}}));
    EXPECT_EQ(answer.grpc_status(), "0");
    EXPECT_THAT(Values(answer.trailers, "told"), testing::HasSubstr("x-same=value|"));
  }
}

TEST(WireFrames, PaddingFromTheCallerIsReturnedAsWindow) {
  constexpr int kFrameBytes = 1 + 1 + 255;
  constexpr int kFrames = 3000;  // Three times the window that the sidecar announces.
  Wire wire(ForEach(AnswerWithBody));
  wire.client.ReadSettled(0);  // Until its SETTINGS are acknowledged the window is the default.
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  int window = 256 * 1024;
  for (int sent = 0; sent < kFrames;) {
    if (window >= kFrameBytes) {
      wire.client.Write(FrameType::kData, kPadded, stream, Padded("x", 255));
      window -= kFrameBytes;
      ++sent;
      continue;
    }
    const auto frame = wire.client.Read();
    ASSERT_TRUE(frame.has_value());
    const bool update = frame->type == FrameType::kWindowUpdate && frame->stream == stream;
    if (update) window += static_cast<int>(ReadNumber(frame->payload));
  }
  wire.client.Write(FrameType::kData, kPadded | kEndStream, stream, Padded("", 100));
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, std::string(kFrames, 'x'));
}

TEST(WireFrames, EmptyDataFramesChangeNothing) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    for (int i = 0; i < 3; ++i) peer.WriteData(request.stream, "", false);
    peer.WriteData(request.stream, request.body, false);
    for (int i = 0; i < 3; ++i) peer.WriteData(request.stream, "", false);
    peer.AnswerTrailers(request.stream, 0);
  }));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  for (int i = 0; i < 3; ++i) wire.client.WriteData(stream, "", false);
  wire.client.WriteData(stream, GrpcMessage("one"), false);
  for (int i = 0; i < 3; ++i) wire.client.WriteData(stream, "", false);
  wire.client.WriteData(stream, "", true);
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, GrpcMessage("one"));
  EXPECT_EQ(answer.grpc_status(), "0");
}

TEST(WireFrames, FramesAndSettingsThatNobodyKnowsAreIgnored) {
  const std::string unknown = Setting(static_cast<SettingId>(0xfff0), 7);
  const auto write_strange = [](FramePeer& peer, int32_t stream) {
    peer.Write(static_cast<FrameType>(0xbe), 0xff, stream, "strange");
    peer.Write(FrameType::kPriority, 0, stream, kPriority);
  };
  Wire wire(ForEach(
                [&](UpstreamPeer& peer, const RawRequest& request) {
                  write_strange(peer, request.stream);
                  peer.AnswerHead(request.stream);
                  write_strange(peer, request.stream);
                  peer.AnswerTrailers(request.stream, 0);
                },
                unknown),
            "", unknown);
  write_strange(wire.client, 1);
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  write_strange(wire.client, stream);
  wire.client.WriteData(stream, GrpcMessage("x"), true);
  EXPECT_EQ(wire.client.AnswerTo(stream).grpc_status(), "0");
}

// Type, size and END_STREAM of each frame of a request, as they come.
RawUpstream::Script TellFrames(Told<std::string>& told) {
  return [&told](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    while (const auto frame = peer.ReadMeaningful()) {
      const bool head = frame->type == FrameType::kHeaders;
      const std::string size = head ? "" : std::to_string(frame->payload.size());
      told.Tell((head ? "HEADERS" : "DATA ") + size + (frame->ends_stream() ? " END" : ""));
      if (head) peer.Decode(*frame);
      if (frame->ends_stream()) peer.Answer(frame->stream);
    }
  };
}

TEST(WireFrames, ALateHalfCloseIsAnEmptyDataFrame) {
  Told<std::string> told;
  Wire wire(TellFrames(told));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  EXPECT_EQ(told.Next(), "HEADERS");
  wire.client.WriteData(stream, GrpcMessage("12345"), false);
  EXPECT_EQ(told.Next(), "DATA 10");
  wire.client.WriteData(stream, "", true);
  EXPECT_EQ(told.Next(), "DATA 0 END");
  EXPECT_EQ(wire.client.AnswerTo(stream).grpc_status(), "0");
}

TEST(WireFrames, AnUpstreamsContentLengthDoesNotContradictTheEndThatTheSidecarWrites) {
  Wire wire([](UpstreamPeer& peer) {
    peer.Handshake();
    while (const auto request = peer.NextHead()) {
      peer.WriteHeaders(
          request->stream,
          {{":status", "200"}, {"content-type", "application/grpc"}, {"content-length", "5"}},
          false);
      peer.WriteReset(request->stream, H2Error::kInternal);
    }
  });
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);  // Nothing is held.
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(Values(answer.head, "content-type"), "application/grpc");
  EXPECT_EQ(Values(answer.head, "content-length"), "");
  EXPECT_EQ(answer.grpc_status(), "13");
}

TEST(WireFrames, ARequestThatIsAllHeadStaysOne) {
  Told<std::string> told;
  Wire wire(TellFrames(told));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Open(RawClient::CallHead(), true)).grpc_status(), "0");
  EXPECT_EQ(told.Next(), "HEADERS END");
}

}  // namespace
}  // namespace levee
