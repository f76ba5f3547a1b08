// SPDX-License-Identifier: Apache-2.0
// RFC 9113, section 5: states of streams, their ids, how many there are, priority, extensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "h2/raw_peer.h"
#include "wire/status.h"

namespace levee::h2_test {
namespace {

using testing::EndsWith;
using testing::StartsWith;

// A connection whose stream 1 is in one of the states of section 5.1.
void Open(RawPeer& peer) { peer.WriteHeaders(1, RequestHead(), false); }
void HalfClose(RawPeer& peer) { peer.WriteHeaders(1, RequestHead(), true); }
void CloseByAnswer(RawPeer& peer) {
  HalfClose(peer);
  peer.Answer(0);
  peer.Read();
}
void CloseByReset(RawPeer& peer) {
  Open(peer);
  peer.WriteReset(1, H2Error::kCancel);
  peer.Read();
}

// RFC 7540 asked for STREAM_CLOSED on every closed stream. RFC 9113, section 5.1 allows that, and
// also to discard what comes, because the session need not know any more how a stream was closed.
testing::AssertionResult IsDiscardedOrAnError(RawPeer& peer, Errors errors) {
  const bool heard_more = peer.side.requests.size() != 1;
  if (heard_more) return testing::AssertionFailure() << "heard " << peer.Heard(1);
  const std::vector<Frame> frames = peer.Read();
  for (const Frame& frame : frames) {
    if (frame.type != FrameType::kReset && frame.type != FrameType::kGoaway) continue;
    const uint32_t code = ReadNumber(frame.payload, frame.type == FrameType::kReset ? 0 : 4);
    for (const H2Error error : errors) {
      if (code == static_cast<uint32_t>(error)) return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "error " << code;
  }
  return peer.Lives();
}

TEST(Rfc9113, C1_5_1_DataOnAnIdleStreamEndsTheConnection) {
  RawPeer peer;
  peer.WriteData(1, "x", true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol, H2Error::kStreamClosed}));
}

// h2spec 5.1/2 and 6.4/2 ask for the end of the connection, with PROTOCOL_ERROR, and so does RFC
// 9113. Older clients on gRPC's core (1.51, 1.62) send this frame for calls that ended before they
// began, and the other calls of the connection would pay for it. The session ignores it and counts
// a reset.
TEST(Rfc9113, C1_5_1_6_4_H20_ResetOfAnIdleStreamIsACallOpenedAndCancelled) {
  RawPeer peer;
  EXPECT_TRUE(peer.WriteReset(5, H2Error::kCancel));
  EXPECT_TRUE(peer.side.requests.empty());
  // A call whose HEADERS were overtaken by the reset of a later one.
  EXPECT_TRUE(peer.WriteHeaders(3, RequestHead(), true));
  EXPECT_EQ(peer.side.requests.size(), 1u);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_6_4_ResetOfAStreamThatNoClientOpensEndsTheConnectionWithProtocolError) {
  for (const int32_t stream : {0, 2}) {
    RawPeer peer;
    peer.WriteReset(stream, H2Error::kCancel);
    EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol})) << stream;
  }
}

TEST(Rfc9113, C1_5_1_6_4_AnUpstreamsResetOfAnIdleStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer(Session::Role::kClient);
  peer.WriteReset(7, H2Error::kCancel);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_5_1_WindowUpdateOnAnIdleStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteWindowUpdate(1, 100);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_5_1_ContinuationOnAnIdleStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode(RequestHead()));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_5_1_PriorityOnAnIdleStreamIsAccepted) {
  RawPeer peer;
  peer.WritePriority(1, 0, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_DataOnAHalfClosedStreamIsStreamClosed) {
  RawPeer peer;
  HalfClose(peer);
  peer.WriteData(1, "x", true);
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kStreamClosed}));
  EXPECT_EQ(peer.side.request(0).body, "");
}

TEST(Rfc9113, C1_5_1_HeadersOnAHalfClosedStreamAreStreamClosed) {
  RawPeer peer;
  HalfClose(peer);
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_EQ(peer.side.requests.size(), 1u);
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_ContinuationOnAHalfClosedStreamEndsTheConnection) {
  RawPeer peer;
  HalfClose(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode(RequestHead()));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol, H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_WindowUpdateOnAHalfClosedStreamIsAccepted) {
  RawPeer peer;
  HalfClose(peer);
  peer.WriteWindowUpdate(1, 100);
  EXPECT_TRUE(peer.Lives());
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_5_1_PriorityOnAHalfClosedStreamIsAccepted) {
  RawPeer peer;
  HalfClose(peer);
  peer.WritePriority(1, 0, 255);
  EXPECT_TRUE(peer.Lives());
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_5_1_6_4_ResetOfAHalfClosedStreamEndsItAlone) {
  RawPeer peer;
  HalfClose(peer);
  peer.WriteReset(1, H2Error::kCancel);
  EXPECT_THAT(peer.Heard(), EndsWith("closed reset 8"));
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_DataOnAStreamThatWasResetIsNotTaken) {
  RawPeer peer;
  CloseByReset(peer);
  peer.WriteData(1, "x", true);
  EXPECT_TRUE(IsDiscardedOrAnError(peer, {H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_HeadersOnAStreamThatWasResetAreNotTaken) {
  RawPeer peer;
  CloseByReset(peer);
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_TRUE(IsDiscardedOrAnError(peer, {H2Error::kStreamClosed, H2Error::kProtocol}));
}

TEST(Rfc9113, C1_5_1_ContinuationOnAStreamThatWasResetEndsTheConnection) {
  RawPeer peer;
  CloseByReset(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode(RequestHead()));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol, H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_6_1_DataOnAClosedStreamIsNotTaken) {
  RawPeer peer;
  CloseByAnswer(peer);
  peer.WriteData(1, "x", true);
  EXPECT_TRUE(IsDiscardedOrAnError(peer, {H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_HeadersOnAClosedStreamAreNotTaken) {
  RawPeer peer;
  CloseByAnswer(peer);
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_TRUE(IsDiscardedOrAnError(peer, {H2Error::kStreamClosed, H2Error::kProtocol}));
}

TEST(Rfc9113, C1_5_1_ContinuationOnAClosedStreamEndsTheConnection) {
  RawPeer peer;
  CloseByAnswer(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode(RequestHead()));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol, H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_PriorityOnAClosedStreamIsAccepted) {
  RawPeer peer;
  CloseByAnswer(peer);
  peer.WritePriority(1, 0, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_WindowUpdateAndResetOnAClosedStreamAreAccepted) {
  RawPeer peer;
  CloseByAnswer(peer);
  peer.WriteWindowUpdate(1, 100);
  peer.WriteReset(1, H2Error::kCancel);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_WhatWasOnItsWayToAStreamThatThisSideResetIsDiscarded) {
  RawPeer peer;
  Open(peer);
  peer.side.request(0).stream->Reset(kResetCancel);
  EXPECT_TRUE(peer.IsReset(1, {H2Error::kCancel}));
  // More than the connection's window in all, so it must be returned.
  uint32_t returned = 0;
  constexpr uint32_t kFrames = 1100;
  for (uint32_t i = 0; i < kFrames; ++i) {
    peer.WriteData(1, std::string(kMaxFrame, 'x'), false);
    for (const Frame& update : Of(peer.Read(), FrameType::kWindowUpdate, 0)) {
      returned += ReadNumber(update.payload);
    }
  }
  EXPECT_GE(returned, (kFrames - 512) * kMaxFrame);
  peer.WriteWindowUpdate(1, 100);
  // Trailers, which put "x-a: 1" in the dynamic table.
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 1,
             "\x40\x03x-a\x01"
             "1");
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 3, Encode(RequestHead()) + "\xbe");
  EXPECT_THAT(peer.Heard(1), EndsWith(" x-a=1"));
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_1_1_AnEvenStreamIdEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(2, RequestHead(), true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

// RFC 9113, section 5.1.1 wants PROTOCOL_ERROR, but the smaller id is also that of a closed stream,
// for which section 5.1 has the last word: a session need not know which of them were ever used.
TEST(Rfc9113, C1_5_1_1_ASmallerStreamIdThanTheLastIsNotServed) {
  RawPeer peer;
  peer.WriteHeaders(5, RequestHead(), true);
  peer.WriteHeaders(3, RequestHead(), true);
  EXPECT_TRUE(IsDiscardedOrAnError(peer, {H2Error::kProtocol, H2Error::kStreamClosed}));
}

TEST(Rfc9113, C1_5_1_2_AStreamOverTheLimitIsRefused) {
  Session::Options options;
  options.max_concurrent_streams = 2;
  RawPeer peer(Session::Role::kServer, options);
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteHeaders(3, RequestHead(), true);
  peer.WriteHeaders(5, RequestHead(), false);
  EXPECT_EQ(peer.side.requests.size(), 2u);
  EXPECT_TRUE(peer.IsReset(5, {H2Error::kRefusedStream, H2Error::kProtocol}));
  peer.WriteData(5, "on its way", true);
  peer.Answer(1);
  EXPECT_TRUE(peer.Lives());
}

// RFC 7540 made a stream that depends on itself a stream error. RFC 9113, section 5.3.2 leaves
// priority to the peers that want it, and the session says in its SETTINGS that it does not.
TEST(Rfc9113, C1_5_3_HeadersThatDependOnThemselvesAreServed) {
  RawPeer peer;
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream | kPrioritised, 1,
             Number(1) + Number(255, 1) + Encode(RequestHead()));
  EXPECT_THAT(peer.Heard(), StartsWith("only :method=POST"));
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_3_PriorityThatDependsOnItselfIsIgnored) {
  RawPeer peer;
  HalfClose(peer);
  peer.WritePriority(1, 1, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_4_1_GoawayNamesTheLastStreamThatWasServed) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  peer.WriteHeaders(7, RequestHead(), true);
  peer.Write(FrameType::kPing, 0, 0, "");  // A PING's payload is 8 octets.
  const auto goaways = Of(peer.Read(), FrameType::kGoaway, 0);
  ASSERT_EQ(goaways.size(), 1u);
  EXPECT_EQ(ReadNumber(goaways[0].payload), 7u);
}

TEST(Rfc9113, C1_5_4_1_NothingIsTakenAfterAConnectionError) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0, 0, "");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
  EXPECT_FALSE(peer.WriteHeaders(1, RequestHead(), true));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_5_5_AnUnknownFrameOnAStreamIsIgnored) {
  RawPeer peer;
  Open(peer);
  peer.Write(static_cast<FrameType>(0xbe), 0xff, 1, "unknown");
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_5_5_AnUnknownFrameWithinAHeaderBlockEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.Write(FrameType::kHeaders, kEndStream, 1, Encode(RequestHead()));
  peer.Write(static_cast<FrameType>(0xbe), 0, 1, "unknown");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

}  // namespace
}  // namespace levee::h2_test
