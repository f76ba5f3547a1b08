// SPDX-License-Identifier: Apache-2.0
// RFC 9113, sections 5.2 and 6.9: flow control, in the server role.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

// A request on stream 1 of a peer whose streams take `window` bytes.
void AskWithWindow(RawPeer& peer, uint32_t window) {
  peer.WriteSetting(SettingId::kInitialWindowSize, window);
  peer.WriteHeaders(1, RequestHead(), true);
  peer.Read();
}

TEST(Rfc9113, C1_6_9_WindowUpdateOfTheConnectionLetsMoreDataOut) {
  RawPeer peer;
  AskWithWindow(peer, 1'000'000);
  peer.Answer(0, std::string(70'000, 'x'));
  EXPECT_EQ(peer.ReadBody(1).size(), 65'535u);
  peer.WriteWindowUpdate(0, 100);
  EXPECT_EQ(peer.ReadBody(1).size(), 100u);
  peer.WriteWindowUpdate(0, 100'000);
  EXPECT_EQ(peer.ReadBody(1).size(), 70'000u - 65'635u);
}

TEST(Rfc9113, C1_6_9_WindowUpdateOfAStreamLetsMoreDataOut) {
  RawPeer peer;
  AskWithWindow(peer, 3);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "ans");
  peer.WriteWindowUpdate(1, 2);
  EXPECT_EQ(peer.ReadBody(1), "we");
  peer.WriteWindowUpdate(1, 100);
  EXPECT_EQ(peer.ReadBody(1), "r");
}

TEST(Rfc9113, C1_6_9_AStreamWithoutWindowHoldsUpNoOther) {
  RawPeer peer;
  AskWithWindow(peer, 0);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "");
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_9_WindowUpdateOf0EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteWindowUpdate(0, 0);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_9_WindowUpdateOf0OnAStreamEndsItWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteWindowUpdate(1, 0);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_9_WindowUpdateOfAnotherLengthThan4EndsTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.Write(FrameType::kWindowUpdate, 0, 0, "\1\2\3");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_9_TheReservedBitOfAnIncrementIsIgnored) {
  RawPeer peer;
  AskWithWindow(peer, 0);
  peer.Answer(0, "answer");
  peer.WriteWindowUpdate(1, 0x8000'0002);
  EXPECT_EQ(peer.ReadBody(1), "an");
}

TEST(Rfc9113, C1_6_9_1_AWindowOf1LetsOneOctetOut) {
  RawPeer peer;
  AskWithWindow(peer, 1);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "a");
}

TEST(Rfc9113, C1_6_9_1_AConnectionsWindowOver2To31EndsItWithFlowControlError) {
  RawPeer peer;
  peer.WriteWindowUpdate(0, kMaxWindow - 65'535);
  EXPECT_TRUE(peer.Lives());
  peer.WriteWindowUpdate(0, 1);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFlowControl}));
}

TEST(Rfc9113, C1_6_9_1_AStreamsWindowOver2To31EndsItWithFlowControlError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteWindowUpdate(1, kMaxWindow);
  EXPECT_TRUE(peer.StreamEnds(1, {H2Error::kFlowControl}));
  EXPECT_EQ(peer.Heard(),
            "head :method=POST :scheme=http :path=/a.B/C :authority=x:1; closed reset 3");
}

TEST(Rfc9113, C1_6_9_1_DataBeyondAStreamsWindowIsAFlowControlError) {
  Session::Options options;
  options.stream_window_bytes = 10;
  RawPeer peer(Session::Role::kServer, options);
  peer.side.credit_requests = false;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "0123456789", false);
  EXPECT_EQ(peer.side.request(0).body, "0123456789");
  peer.WriteData(1, "x", false);
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kFlowControl}));
  EXPECT_EQ(peer.side.request(0).body, "0123456789");
}

TEST(Rfc9113, C1_6_9_1_PaddingCountsForTheWindow) {
  Session::Options options;
  options.stream_window_bytes = 10;
  RawPeer peer(Session::Role::kServer, options);
  peer.side.credit_requests = false;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kData, kPadded, 1, Padded("", 10));
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kFlowControl}));
}

// Streams take 10 bytes, and nothing is credited.
struct SmallWindow : RawPeer {
  SmallWindow() : RawPeer(Session::Role::kServer, {.stream_window_bytes = 10}) {
    side.credit_requests = false;
    WriteHeaders(1, RequestHead(), false);
  }

  // The initial windows that the session has offered since the last time.
  std::vector<std::string> Offered() {
    std::vector<std::string> offered;
    for (const Frame& frame : Of(Read(), FrameType::kSettings, 0)) offered.push_back(frame.payload);
    return offered;
  }
  static std::string Window(uint32_t bytes) {
    return Setting(SettingId::kInitialWindowSize, bytes);
  }
  void Acknowledge() { Write(FrameType::kSettings, kAck, 0, ""); }
};

TEST(Rfc9113, C1_6_9_2_ASmallerReceiveWindowHoldsFromItsAcknowledgementOn) {
  SmallWindow peer;
  peer.side.session.SetStreamWindow(4);
  EXPECT_THAT(peer.Offered(), testing::ElementsAre(peer.Window(4)));
  EXPECT_TRUE(peer.WriteData(1, "0123456", false));
  peer.Acknowledge();
  EXPECT_TRUE(peer.Lives());
  peer.WriteData(1, "7", false);  // 4 - 7
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kFlowControl}));
}

TEST(Rfc9113, C1_6_9_2_BytesThatWereProcessedBeforeAreGivenBackWithASmallerReceiveWindow) {
  SmallWindow peer;
  peer.WriteData(1, "0123", false);
  peer.side.request(0).stream->Credit(4);  // too little for a WINDOW_UPDATE
  peer.side.session.SetStreamWindow(2);
  peer.Acknowledge();  // 2 - 4: the peer can send nothing, so nothing more will be processed
  const std::vector<Frame> updates = Of(peer.Read(), FrameType::kWindowUpdate, 1);
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(ReadNumber(updates[0].payload), 4u);
}

TEST(Rfc9113, C1_6_9_2_ALargerReceiveWindowHoldsAtOnceAndForStreamsToCome) {
  SmallWindow peer;
  peer.side.session.SetStreamWindow(20);
  EXPECT_THAT(peer.Offered(), testing::ElementsAre(peer.Window(20)));
  EXPECT_TRUE(peer.WriteData(1, std::string(20, 'x'), false));
  peer.WriteHeaders(3, RequestHead(), false);
  EXPECT_TRUE(peer.WriteData(3, std::string(20, 'x'), false));
  EXPECT_TRUE(peer.Lives());
  peer.WriteData(3, "x", false);
  EXPECT_TRUE(peer.StreamOrConnectionEnds(3, {H2Error::kFlowControl}));
}

TEST(Rfc9113, C1_6_9_2_TheLastReceiveWindowIsOfferedWhenTheOneBeforeIsAcknowledged) {
  SmallWindow peer;
  for (const uint32_t bytes : {4u, 5u, 6u}) peer.side.session.SetStreamWindow(bytes);
  EXPECT_THAT(peer.Offered(), testing::ElementsAre(peer.Window(4)));
  peer.Acknowledge();
  EXPECT_THAT(peer.Offered(), testing::ElementsAre(peer.Window(6)));
  peer.Acknowledge();
  EXPECT_THAT(peer.Offered(), testing::IsEmpty());
}

TEST(Rfc9113, C1_6_9_2_ALargerInitialWindowCountsForOpenStreams) {
  RawPeer peer;
  AskWithWindow(peer, 0);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "");
  peer.WriteSetting(SettingId::kInitialWindowSize, 1);
  EXPECT_EQ(peer.ReadBody(1), "a");
}

TEST(Rfc9113, C1_6_9_2_AWindowMadeNegativeLetsNothingOutUntilItIsPositive) {
  RawPeer peer;
  AskWithWindow(peer, 3);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "ans");
  peer.WriteSetting(SettingId::kInitialWindowSize, 2);  // 2 - 3
  EXPECT_EQ(peer.ReadBody(1), "");
  peer.WriteWindowUpdate(1, 1);
  EXPECT_EQ(peer.ReadBody(1), "");
  peer.WriteWindowUpdate(1, 1);
  EXPECT_EQ(peer.ReadBody(1), "w");
}

TEST(Rfc9113, C1_6_9_2_AnInitialWindowThatLiftsAStreamsOver2To31EndsTheConnection) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteWindowUpdate(1, 1);
  EXPECT_TRUE(peer.Lives());
  peer.WriteSetting(SettingId::kInitialWindowSize, kMaxWindow);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFlowControl}));
}

}  // namespace
}  // namespace levee::h2_test
