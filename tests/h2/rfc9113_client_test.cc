// SPDX-License-Identifier: Apache-2.0
// RFC 9113 in the client role: what a hostile upstream might send, and what it may ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;
using testing::EndsWith;
using testing::HasSubstr;

constexpr char kHeardAnswer[] = "head :status=200 content-type=application/grpc";

// A session with a call on stream 1, whose body is open.
class Client : public RawPeer {
 public:
  explicit Client(const Session::Options& options = {})
      : RawPeer(Session::Role::kClient, options), stream(StartCall(call)) {}

  // The session has reset the call, whose handler knows, and all else goes on.
  testing::AssertionResult CallEnds(H2Error error) {
    const std::string end = "closed reset " + std::to_string(static_cast<uint32_t>(error));
    testing::AssertionResult ends = StreamEnds(1, {error});
    if (!ends || call.events.ends_with(end)) return ends;
    return testing::AssertionFailure() << "heard " << call.events;
  }

  RecordingHandler call;
  Stream& stream;
};

HeaderList HeadWith(const std::string& name, const std::string& value) {
  HeaderList head = ResponseHead();
  head.emplace_back(name, value);
  return head;
}

testing::AssertionResult IsMalformedAnswer(const HeaderList& head) {
  Client client;
  client.WriteHeaders(1, head, true);
  if (client.call.events.find(":status") != std::string::npos) {
    return testing::AssertionFailure() << "heard " << client.call.events;
  }
  return client.CallEnds(H2Error::kProtocol);
}

TEST(Rfc9113Client, C1_8_1_AnAnswerIsHeadBodyAndTrailers) {
  Client client;
  client.stream.SendData(Chunk(), true);
  client.WriteHeaders(1, ResponseHead(), false);
  client.WriteData(1, "answer", false);
  client.WriteHeaders(1, {{"grpc-status", "0"}}, true);
  client.Read();
  EXPECT_EQ(client.call.events, kHeardAnswer + "; trailers grpc-status=0; closed complete"s);
  EXPECT_EQ(client.call.body, "answer");
  EXPECT_TRUE(client.Lives());
}

TEST(Rfc9113Client, C1_3_4_TheFirstFrameMustBeSettings) {
  RawPeer peer(Session::Role::kClient, {}, RawPeer::Start::kSilent);
  peer.side.Take();  // It begins with the preface, which is no frame.
  EXPECT_FALSE(peer.Write(FrameType::kPing, 0, 0, "12345678"));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113Client, C1_8_3_2_AnAnswerWithoutStatusIsMalformed) {
  EXPECT_TRUE(IsMalformedAnswer({{"content-type", "application/grpc"}}));
}

TEST(Rfc9113Client, C1_8_3_2_AStatusThatIsNotThreeDigitsIsMalformed) {
  for (const std::string status : {"", "2", "20", "2000", "2x0", "abc", " 200"}) {
    EXPECT_TRUE(IsMalformedAnswer({{":status", status}})) << status;
  }
}

TEST(Rfc9113Client, C1_8_3_PseudoHeadersThatAreNotStatusAreMalformed) {
  EXPECT_TRUE(IsMalformedAnswer({{":status", "200"}, {":path", "/"}}));
  EXPECT_TRUE(IsMalformedAnswer({{":status", "200"}, {":status", "200"}}));
  EXPECT_TRUE(IsMalformedAnswer({{"x-first", "1"}, {":status", "200"}}));
  EXPECT_TRUE(IsMalformedAnswer({{":status", "200"}, {":unknown", "1"}}));
}

TEST(Rfc9113Client, C1_8_2_FieldsThatNoMessageMayHaveAreMalformed) {
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("X-Upper", "1")));
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("x-value", "a\nb")));
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("connection", "close")));
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("transfer-encoding", "chunked")));
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("upgrade", "h2c")));
}

TEST(Rfc9113Client, C1_8_1_DataBeforeTheHeadIsMalformed) {
  Client client;
  client.WriteData(1, "x", false);
  EXPECT_EQ(client.call.body, "");
  EXPECT_TRUE(client.CallEnds(H2Error::kProtocol));
}

TEST(Rfc9113Client, C1_8_1_TrailersWithoutEndOfStreamAreMalformed) {
  Client client;
  client.WriteHeaders(1, ResponseHead(), false);
  client.WriteHeaders(1, {{"grpc-status", "0"}}, false);
  EXPECT_TRUE(client.CallEnds(H2Error::kProtocol));
}

TEST(Rfc9113Client, C1_8_1_PseudoHeadersInTrailersAreMalformed) {
  Client client;
  client.WriteHeaders(1, ResponseHead(), false);
  client.WriteHeaders(1, {{":status", "200"}, {"grpc-status", "0"}}, true);
  EXPECT_TRUE(client.CallEnds(H2Error::kProtocol));
  EXPECT_EQ(client.call.events, kHeardAnswer + "; closed reset 1"s);
}

TEST(Rfc9113Client, C1_8_1_InformationalHeadsBeforeTheAnswerAreSkipped) {
  Client client;
  client.WriteHeaders(1, {{":status", "100"}}, false);
  client.WriteHeaders(1, {{":status", "103"}, {"link", "</x>"}}, false);
  EXPECT_EQ(client.call.events, "");
  client.WriteHeaders(1, ResponseHead(), false);
  EXPECT_EQ(client.call.events, kHeardAnswer);
  EXPECT_TRUE(client.Lives());
}

TEST(Rfc9113Client, C1_8_1_AnInformationalHeadThatEndsTheStreamIsMalformed) {
  EXPECT_TRUE(IsMalformedAnswer({{":status", "103"}}));
}

TEST(Rfc9113Client, C1_8_6_Status101IsMalformed) {
  EXPECT_TRUE(IsMalformedAnswer({{":status", "101"}}));
}

TEST(Rfc9113Client, C1_8_1_1_AContentLengthThatIsNotTheBodysIsMalformed) {
  for (const std::string body : {"four", "sixsix"}) {
    Client client;
    client.WriteHeaders(1, HeadWith("content-length", "5"), false);
    client.WriteData(1, body, true);
    EXPECT_TRUE(client.CallEnds(H2Error::kProtocol)) << body;
    EXPECT_THAT(client.call.events, testing::Not(HasSubstr("; end"))) << body;
  }
}

TEST(Rfc9113Client, C1_8_1_1_TwoContentLengthsAreMalformedAlsoIfTheyAreEqual) {
  HeaderList head = HeadWith("content-length", "0");
  head.emplace_back("content-length", "0");
  EXPECT_TRUE(IsMalformedAnswer(head));
}

TEST(Rfc9113Client, C1_8_1_1_AContentLengthWithoutBodyIsMalformed) {
  EXPECT_TRUE(IsMalformedAnswer(HeadWith("content-length", "5")));
}

TEST(Rfc9113Client, C1_8_1_1_AContentLengthThatIsTheBodysIsHeard) {
  Client client;
  client.WriteHeaders(1, HeadWith("content-length", "4"), false);
  client.WriteData(1, "four", false);
  client.WriteHeaders(1, {{"grpc-status", "0"}}, true);
  EXPECT_EQ(client.call.events, kHeardAnswer + " content-length=4; trailers grpc-status=0"s);
  EXPECT_TRUE(client.Lives());
}

TEST(Rfc9113Client, C1_8_4_PushPromiseEndsTheConnectionWithProtocolError) {
  Client client;
  client.Write(FrameType::kPushPromise, kEndHeaders, 1, Number(2) + Encode(RequestHead()));
  EXPECT_TRUE(client.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113Client, C1_6_5_2_EnablePushFromAServerEndsTheConnectionWithProtocolError) {
  Client client;
  client.WriteSetting(SettingId::kEnablePush, 1);
  EXPECT_TRUE(client.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113Client, C1_5_1_1_HeadersOnStreamsThatTheClientHasNotOpenedEndTheConnection) {
  for (const int32_t id : {2, 3}) {
    Client client;
    client.WriteHeaders(id, ResponseHead(), true);
    EXPECT_TRUE(client.ConnectionEnds({H2Error::kProtocol})) << id;
  }
}

TEST(Rfc9113Client, C1_5_1_FramesOnStreamsThatTheClientHasNotOpenedEndTheConnection) {
  for (const int32_t id : {2, 3}) {
    Client data, reset, update;
    data.WriteData(id, "x", false);
    EXPECT_TRUE(data.ConnectionEnds({H2Error::kProtocol, H2Error::kStreamClosed})) << id;
    reset.WriteReset(id, H2Error::kCancel);
    EXPECT_TRUE(reset.ConnectionEnds({H2Error::kProtocol})) << id;
    update.WriteWindowUpdate(id, 1);
    EXPECT_TRUE(update.ConnectionEnds({H2Error::kProtocol})) << id;
  }
}

TEST(Rfc9113Client, C1_5_1_DataAfterTheEndOfTheAnswerIsStreamClosed) {
  Client client;
  client.WriteHeaders(1, ResponseHead(), true);
  client.WriteData(1, "x", false);
  EXPECT_EQ(client.call.body, "");
  EXPECT_TRUE(client.StreamOrConnectionEnds(1, {H2Error::kStreamClosed}));
}

TEST(Rfc9113Client, C1_5_1_WhatWasOnItsWayToACancelledCallIsDiscarded) {
  Client client;
  client.stream.Reset(static_cast<uint32_t>(H2Error::kCancel));
  EXPECT_EQ(Of(client.Read(), FrameType::kReset, 1).size(), 1u);
  client.WriteHeaders(1, ResponseHead(), false);
  client.WriteData(1, "answer", false);
  client.WriteHeaders(1, {{"grpc-status", "0"}}, true);
  EXPECT_EQ(client.call.events, "");
  EXPECT_TRUE(client.Lives());
}

TEST(Rfc9113Client, C1_6_9_1_AConnectionsWindowOver2To31EndsItWithFlowControlError) {
  Client client;
  client.WriteWindowUpdate(0, kMaxWindow);
  EXPECT_TRUE(client.ConnectionEnds({H2Error::kFlowControl}));
}

TEST(Rfc9113Client, C1_6_9_1_AStreamsWindowOver2To31EndsItWithFlowControlError) {
  Client client;
  client.WriteWindowUpdate(1, kMaxWindow);
  EXPECT_TRUE(client.CallEnds(H2Error::kFlowControl));
}

TEST(Rfc9113Client, C1_6_9_2_AChangedInitialWindowCountsForOpenStreams) {
  Client client;
  client.stream.SendData(Bytes(std::string(60'000, 'x')), false);
  EXPECT_EQ(client.ReadBody(1).size(), 60'000u);
  client.WriteSetting(SettingId::kInitialWindowSize, 50'000);  // The window is now -10'000.
  client.WriteWindowUpdate(0, 60'000);
  client.stream.SendData(Bytes(std::string(100, 'y')), false);
  client.WriteWindowUpdate(1, 10'000);
  EXPECT_EQ(client.ReadBody(1), "");
  client.WriteSetting(SettingId::kInitialWindowSize, 50'007);
  EXPECT_EQ(client.ReadBody(1), "yyyyyyy");
  client.WriteWindowUpdate(1, 1000);
  EXPECT_EQ(client.ReadBody(1).size(), 93u);
}

TEST(Rfc9113Client, C1_6_5_2_NoFrameIsLargerThanThePeersMaxFrameSize) {
  Client client;
  client.WriteWindowUpdate(0, 1'000'000);
  client.WriteWindowUpdate(1, 1'000'000);
  RecordingHandler call;
  Stream& stream = client.side.session.Open(call);
  for (const auto& [name, value] : RequestHead()) stream.head().Add(name, value);
  stream.head().Add("x-large", std::string(40'000, 'v'));
  stream.SendHead(false);
  client.stream.SendData(Bytes(std::string(100'000, 'x')), false);
  const std::vector<Frame> frames = client.Read();
  size_t bodies = 0, heads = 0;
  for (const Frame& frame : frames) {
    EXPECT_LE(frame.payload.size(), kMaxFrame);
    (frame.type == FrameType::kData ? bodies : heads) += frame.payload.size();
  }
  EXPECT_EQ(bodies, 100'000u);
  EXPECT_GT(heads, 2 * kMaxFrame);
}

TEST(Rfc9113Client, C1_6_5_2_RequestsToAPeerWithoutHeaderTableUseNone) {
  Client client;
  client.WriteSetting(SettingId::kHeaderTableSize, 0);
  client.SetTableBytes(0);
  RecordingHandler calls[3];
  for (int i = 0; i < 3; ++i) {
    Stream& stream = client.side.session.Open(calls[i]);
    for (const auto& [name, value] : RequestHead()) stream.head().Add(name, value);
    stream.SendHead(true);
    const std::vector<Frame> said = client.Read();  // The stream has an id from here on.
    const auto blocks = Of(said, FrameType::kHeaders, stream.id());
    ASSERT_EQ(blocks.size(), 1u);
    EXPECT_EQ(blocks[0].payload.starts_with("\x20"), i == 0);
    EXPECT_EQ(client.Decode(blocks[0]), RequestHead());
  }
}

TEST(Rfc9113Client, C1_4_3_AHeaderBlockOfSeveralFramesIsNotInterrupted) {
  Client client;
  RecordingHandler call;
  Stream& stream = client.side.session.Open(call);
  for (const auto& [name, value] : RequestHead()) stream.head().Add(name, value);
  stream.head().Add("x-large", std::string(40'000, 'v'));
  stream.SendHead(true);
  client.Write(FrameType::kPing, 0, 0, "12345678");
  client.stream.SendData(Bytes("x"), false);
  bool within = false;
  size_t continuations = 0;
  for (const Frame& frame : client.Read()) {
    EXPECT_EQ(frame.type == FrameType::kContinuation, within);
    continuations += within;
    if (frame.type != FrameType::kHeaders && frame.type != FrameType::kContinuation) continue;
    EXPECT_EQ(frame.stream, 3);
    within = (frame.flags & kEndHeaders) == 0;
  }
  EXPECT_EQ(continuations, 2u);
}

}  // namespace
}  // namespace levee::h2_test
