// SPDX-License-Identifier: Apache-2.0
// RFC 9113, sections 3 and 4: the preface, frames, their sizes, header blocks.
//
// The rfc9113_*_test.cc and rfc7541_test.cc hold the cases of h2spec against a session in the
// server role. A case that h2spec has in two sections is one test, named after both. Not here are
// those that need TLS (ALPN, ciphers: the sidecar speaks cleartext to its caller) or that wait for
// a connection to be closed after some time (that is the connection's, not the session's). Where
// RFC 9113 asks for something else than RFC 7540, a comment at the test says so.
#include <gtest/gtest.h>

#include <string>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;

TEST(Rfc9113, C1_3_4_TheFirstFrameOfAServerIsSettings) {
  RawPeer peer(Session::Role::kServer, {}, RawPeer::Start::kSilent);
  const std::vector<Frame> frames = peer.Read();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames[0].type, FrameType::kSettings);
  EXPECT_EQ(frames[0].flags, 0);
  EXPECT_EQ(frames[0].stream, 0);
}

TEST(Rfc9113, C1_3_4_AClientThatSendsThePrefaceIsServed) {
  RawPeer peer(Session::Role::kServer, {}, RawPeer::Start::kSilent);
  EXPECT_TRUE(peer.Write(kPreface + FrameHead(0, FrameType::kSettings, 0, 0)));
  EXPECT_EQ(Of(peer.Read(), FrameType::kSettings, 0).size(), 2u);  // Its own, and the ACK.
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_3_4_AWrongPrefaceEndsTheConnection) {
  RawPeer peer(Session::Role::kServer, {}, RawPeer::Start::kSilent);
  EXPECT_FALSE(peer.Write("INVALID CONNECTION PREFACE\r\n\r\n"));
  // A GOAWAY may be omitted, since the peer hardly speaks HTTP/2.
  for (const Frame& goaway : Of(peer.Read(), FrameType::kGoaway, 0)) {
    EXPECT_EQ(ReadNumber(goaway.payload, 4), static_cast<uint32_t>(H2Error::kProtocol));
  }
  EXPECT_TRUE(peer.side.session.Done());
}

TEST(Rfc9113, C1_3_4_APrefaceWithoutSettingsEndsTheConnection) {
  RawPeer peer(Session::Role::kServer, {}, RawPeer::Start::kSilent);
  peer.Write(kPreface);
  EXPECT_FALSE(peer.WriteHeaders(1, RequestHead(), true));
  EXPECT_EQ(peer.Heard(), "");
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_4_1_FramesOfUnknownTypesAreIgnored) {
  RawPeer peer;
  peer.Write(static_cast<FrameType>(0x16), 0, 0, "unknown");
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_4_1_UndefinedFlagsAreIgnored) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0x16, 0, "12345678");
  const auto pings = Of(peer.Read(), FrameType::kPing, 0);
  ASSERT_EQ(pings.size(), 1u);
  EXPECT_EQ(pings[0].flags, kAck);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_4_1_TheReservedBitIsIgnored) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0, INT32_MIN, "12345678");
  EXPECT_EQ(Of(peer.Read(), FrameType::kPing, 0).size(), 1u);
  peer.WriteHeaders(INT32_MIN | 1, RequestHead(), true);
  EXPECT_NE(peer.Heard(), "");
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_4_2_DataOf16384OctetsIsTaken) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, std::string(kMaxFrame, 'x'), true);
  EXPECT_EQ(peer.side.request(0).body.size(), kMaxFrame);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_4_2_LargerDataIsAFrameSizeError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, std::string(kMaxFrame + 1, 'x'), true);
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kFrameSize}));
  EXPECT_EQ(peer.side.request(0).body, "");
}

TEST(Rfc9113, C1_4_2_LargerHeadersEndTheConnectionWithFrameSizeError) {
  RawPeer peer;
  HeaderList head = RequestHead();
  head.emplace_back("x-large", std::string(kMaxFrame, 'x'));
  peer.WriteHeaders(1, head, true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_4_3_AnInvalidHeaderBlockEndsTheConnectionWithCompressionError) {
  RawPeer peer;
  // A literal whose name and value are missing.
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 1, "\x40");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kCompression}));
  EXPECT_TRUE(peer.side.requests.empty());
}

// The start of a header block that is not all there.
void WriteHalfAHead(RawPeer& peer) {
  peer.Write(FrameType::kHeaders, kEndStream, 1, Encode(RequestHead()));
}

TEST(Rfc9113, C1_4_3_6_2_PriorityWithinAHeaderBlockEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  WriteHalfAHead(peer);
  peer.WritePriority(1, 0, 255);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_4_3_6_2_HeadersOfAnotherStreamWithinAHeaderBlockEndTheConnection) {
  RawPeer peer;
  WriteHalfAHead(peer);
  peer.WriteHeaders(3, RequestHead(), true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_4_3_ARefusedRequestsHeaderBlockStillCountsForLaterOnes) {
  Session::Options options;
  options.max_concurrent_streams = 1;
  RawPeer peer(Session::Role::kServer, options);
  peer.WriteHeaders(1, RequestHead(), false);
  // The second request, which is refused, puts "x-a: 1" in the dynamic table.
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 3,
             Encode(RequestHead()) + "\x40\x03x-a\x01" + "1");
  EXPECT_TRUE(peer.IsReset(3, {H2Error::kRefusedStream, H2Error::kProtocol}));
  peer.WriteReset(1, H2Error::kCancel);
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 5, Encode(RequestHead()) + "\xbe");
  EXPECT_TRUE(peer.Heard(1).ends_with(" x-a=1")) << peer.Heard(1);
}

// Section 6.8: the last stream id of a GOAWAY never grows.
TEST(Rfc9113Goaway, NoneFollowsTheOneThatNamesAFault) {
  RawPeer peer;
  EXPECT_FALSE(peer.Write(FrameType::kPing, 0, 1, "12345678"));
  peer.side.session.AnnounceShutdown();
  peer.side.session.Shutdown();
  EXPECT_EQ(Of(peer.Read(), FrameType::kGoaway, 0).size(), 1u);
}

}  // namespace
}  // namespace levee::h2_test
