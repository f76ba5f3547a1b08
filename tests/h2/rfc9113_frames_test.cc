// SPDX-License-Identifier: Apache-2.0
// RFC 9113, sections 6.1 to 6.4, 6.6 and 6.10: DATA, HEADERS, PRIORITY, RST_STREAM, PUSH_PROMISE,
// CONTINUATION.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using namespace std::string_literals;
using testing::EndsWith;
using testing::StartsWith;

constexpr char kHeardHead[] = ":method=POST :scheme=http :path=/a.B/C :authority=x:1";

TEST(Rfc9113, C1_6_1_DataIsTaken) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "one", true);
  EXPECT_EQ(peer.side.request(0).body, "one");
  EXPECT_THAT(peer.Heard(), EndsWith("; end"));
}

TEST(Rfc9113, C1_6_1_SeveralDataFramesAreOneBody) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "one", false);
  peer.WriteData(1, "two", true);
  EXPECT_EQ(peer.side.request(0).body, "onetwo");
  EXPECT_THAT(peer.Heard(), EndsWith("; end"));
}

TEST(Rfc9113, C1_6_1_PaddingOfDataIsNoBody) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kData, kPadded, 1, Padded("one", 255));
  peer.Write(FrameType::kData, kPadded | kEndStream, 1, Padded("", 10));
  EXPECT_EQ(peer.side.request(0).body, "one");
  EXPECT_THAT(peer.Heard(), EndsWith("; end"));
}

TEST(Rfc9113, C1_6_1_DataOnStream0EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteData(0, "x", true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_1_DataWithMorePaddingThanPayloadEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kData, kPadded | kEndStream, 1,
             "\x06"
             "xxxxx");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_EQ(peer.side.request(0).body, "");
}

TEST(Rfc9113, C1_6_1_PaddedDataWithoutPadLengthEndsTheConnection) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kData, kPadded | kEndStream, 1, "");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize, H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_2_HeadersAreTaken) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
}

TEST(Rfc9113, C1_6_2_PaddingOfHeadersIsNoHead) {
  RawPeer peer;
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream | kPadded, 1,
             Padded(Encode(RequestHead()), 100));
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
}

TEST(Rfc9113, C1_6_2_HeadersWithPriorityAreTaken) {
  RawPeer peer;
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream | kPadded | kPrioritised, 1,
             Padded(Number(0) + Number(255, 1) + Encode(RequestHead()), 100));
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
}

TEST(Rfc9113, C1_6_2_HeadersOnStream0EndTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(0, RequestHead(), true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_6_2_HeadersWithMorePaddingThanPayloadEndTheConnectionWithProtocolError) {
  RawPeer peer;
  const std::string block = Encode(RequestHead());
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream | kPadded, 1,
             Number(static_cast<uint32_t>(block.size() + 1), 1) + block);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_6_2_HeadersTooShortForTheirPriorityEndTheConnection) {
  RawPeer peer;
  peer.Write(FrameType::kHeaders, kEndHeaders | kEndStream | kPrioritised, 1, "\0\0\0"s);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize, H2Error::kProtocol}));
}

// RFC 9113, section 5.3.2: what PRIORITY says may be ignored, its form may not.
TEST(Rfc9113, C1_6_3_PriorityOfTheLeastWeightIsAccepted) {
  RawPeer peer;
  peer.WritePriority(1, 0, 0);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_3_PriorityOfTheLargestWeightIsAccepted) {
  RawPeer peer;
  peer.WritePriority(1, 0, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_3_PriorityThatDependsOnAStreamIsAccepted) {
  RawPeer peer;
  peer.WritePriority(1, 0, 255);
  peer.WritePriority(3, 1, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_3_PriorityThatDependsExclusivelyIsAccepted) {
  RawPeer peer;
  peer.WritePriority(3, 0x8000'0001, 255);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_3_PriorityOfAnIdleStreamLeavesSmallerIdsToBeOpened) {
  RawPeer peer;
  peer.WritePriority(5, 0, 255);
  peer.WriteHeaders(3, RequestHead(), true);
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_3_PriorityOnStream0EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WritePriority(0, 1, 255);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_3_PriorityOfAnotherLengthThan5IsAFrameSizeError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kPriority, 0, 1, Number(0));
  EXPECT_TRUE(peer.StreamOrConnectionEnds(1, {H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_4_ResetEndsItsStreamAlone) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteReset(1, H2Error::kCancel);
  EXPECT_THAT(peer.Heard(), EndsWith("; closed reset 8"));
  EXPECT_EQ(peer.side.session.stream_count(), 0u);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_4_ResetOfStream0EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteReset(0, H2Error::kCancel);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_4_ResetOfAnotherLengthThan4EndsTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kReset, 0, 1, "\0\0\1"s);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_6_8_4_PushPromiseFromAClientEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kPushPromise, kEndHeaders, 1, Number(3) + Encode(RequestHead()));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_10_OneContinuationCompletesAHead) {
  RawPeer peer;
  const std::string block = Encode(RequestHead());
  peer.Write(FrameType::kHeaders, kEndStream, 1, block.substr(0, 10));
  EXPECT_EQ(peer.Heard(), "");
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, block.substr(10));
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
}

TEST(Rfc9113, C1_6_10_SeveralContinuationsCompleteAHead) {
  RawPeer peer;
  const std::string block = Encode(RequestHead());
  peer.Write(FrameType::kHeaders, kEndStream, 1, "");
  for (const char byte : block) {
    peer.Write(FrameType::kContinuation, 0, 1, std::string(1, byte));
  }
  EXPECT_EQ(peer.Heard(), "");
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, "");
  EXPECT_EQ(peer.Heard(), "only "s + kHeardHead);
  EXPECT_TRUE(peer.Lives());
}

// HEADERS and a CONTINUATION with all of a head, but for the flag that says so.
void WriteAllButTheEnd(RawPeer& peer) {
  const std::string block = Encode(RequestHead());
  peer.Write(FrameType::kHeaders, 0, 1, block.substr(0, 10));
  peer.Write(FrameType::kContinuation, 0, 1, block.substr(10));
}

TEST(Rfc9113, C1_6_10_DataAfterContinuationEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  WriteAllButTheEnd(peer);
  peer.WriteData(1, "x", true);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
  EXPECT_TRUE(peer.side.requests.empty());
}

TEST(Rfc9113, C1_6_10_ContinuationOnStream0EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  WriteAllButTheEnd(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 0, Encode({{"x", "y"}}));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_10_ContinuationOnAnotherStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  WriteAllButTheEnd(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 3, Encode({{"x", "y"}}));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_10_ContinuationAfterHeadersThatEndedEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode({{"x", "y"}}));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_10_ContinuationAfterTheLastEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  WriteAllButTheEnd(peer);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, "");
  EXPECT_THAT(peer.Heard(), StartsWith("head "));
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode({{"x", "y"}}));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_10_ContinuationAfterDataEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteData(1, "x", false);
  peer.Write(FrameType::kContinuation, kEndHeaders, 1, Encode({{"x", "y"}}));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

}  // namespace
}  // namespace levee::h2_test
