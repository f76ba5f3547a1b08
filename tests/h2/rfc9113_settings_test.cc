// SPDX-License-Identifier: Apache-2.0
// RFC 9113, sections 6.5, 6.7, 6.8 and 7: SETTINGS, PING, GOAWAY, error codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "h2/raw_peer.h"

namespace levee::h2_test {
namespace {

using testing::EndsWith;

TEST(Rfc9113, C1_6_5_SettingsAreAcknowledged) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kMaxConcurrentStreams, 100);
  const auto settings = Of(peer.Read(), FrameType::kSettings, 0);
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings[0].flags, kAck);
  EXPECT_EQ(settings[0].payload, "");
}

TEST(Rfc9113, C1_6_5_3_EverySettingsFrameIsAcknowledgedOnce) {
  RawPeer peer;
  for (int i = 0; i < 3; ++i) peer.Write(FrameType::kSettings, 0, 0, "");
  EXPECT_EQ(Of(peer.Read(), FrameType::kSettings, 0).size(), 3u);
}

TEST(Rfc9113, C1_6_5_AnAckWithPayloadEndsTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.Write(FrameType::kSettings, kAck, 0, Setting(SettingId::kInitialWindowSize, 1));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_5_SettingsOnAStreamEndTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.Write(FrameType::kSettings, 0, 1, Setting(SettingId::kMaxConcurrentStreams, 100));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_5_SettingsCutShortEndTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.Write(FrameType::kSettings, 0, 0, "\1\2\3");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_5_2_EnablePushOf2EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kEnablePush, 2);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_5_2_EnablePushOf0And1IsAccepted) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kEnablePush, 0);
  peer.WriteSetting(SettingId::kEnablePush, 1);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_5_2_6_9_2_AnInitialWindowOver2To31EndsTheConnectionWithFlowControlError) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kInitialWindowSize, kMaxWindow + 1);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFlowControl}));
}

TEST(Rfc9113, C1_6_5_2_TheLargestInitialWindowIsAccepted) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kInitialWindowSize, kMaxWindow);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_5_2_AMaxFrameSizeBelow16384EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kMaxFrameSize, 16'383);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_5_2_AMaxFrameSizeFrom2To24EndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kMaxFrameSize, 16'777'216);
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_5_2_TheLeastAndTheLargestMaxFrameSizeAreAccepted) {
  RawPeer peer;
  peer.WriteSetting(SettingId::kMaxFrameSize, 16'777'215);
  peer.WriteSetting(SettingId::kMaxFrameSize, 16'384);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_5_2_UnknownSettingsAreIgnored) {
  RawPeer peer;
  peer.WriteSetting(static_cast<SettingId>(0xff), 1);
  EXPECT_EQ(Of(peer.Read(), FrameType::kSettings, 0).size(), 1u);
  EXPECT_TRUE(peer.Lives());
}

TEST(Rfc9113, C1_6_5_3_OfSeveralValuesOfASettingTheLastCounts) {
  RawPeer peer;
  peer.Write(
      FrameType::kSettings, 0, 0,
      Setting(SettingId::kInitialWindowSize, 100) + Setting(SettingId::kInitialWindowSize, 1));
  peer.WriteHeaders(1, RequestHead(), true);
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "a");
}

TEST(Rfc9113, C1_6_7_APingIsAnsweredWithItsPayload) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0, 0, "12345678");
  const auto pings = Of(peer.Read(), FrameType::kPing, 0);
  ASSERT_EQ(pings.size(), 1u);
  EXPECT_EQ(pings[0].flags, kAck);
  EXPECT_EQ(pings[0].payload, "12345678");
}

TEST(Rfc9113, C1_6_7_APingWithAckIsNotAnswered) {
  RawPeer peer;
  peer.Write(FrameType::kPing, kAck, 0, "invalid!");
  peer.Write(FrameType::kPing, 0, 0, "12345678");
  const auto pings = Of(peer.Read(), FrameType::kPing, 0);
  ASSERT_EQ(pings.size(), 1u);
  EXPECT_EQ(pings[0].payload, "12345678");
}

TEST(Rfc9113, C1_6_7_APingOnAStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0, 1, "12345678");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_7_APingOfAnotherLengthThan8EndsTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.Write(FrameType::kPing, 0, 0, "123456");
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_6_8_StreamsThatThereAreEndWellAfterTheClientsGoaway) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_TRUE(peer.Write(FrameType::kGoaway, 0, 0, Number(0) + Number(0)));
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_6_8_GoawayOnAStreamEndsTheConnectionWithProtocolError) {
  RawPeer peer;
  peer.Write(FrameType::kGoaway, 0, 1, Number(0) + Number(0));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kProtocol}));
}

TEST(Rfc9113, C1_6_8_GoawayCutShortEndsTheConnectionWithFrameSizeError) {
  RawPeer peer;
  peer.Write(FrameType::kGoaway, 0, 0, Number(0));
  EXPECT_TRUE(peer.ConnectionEnds({H2Error::kFrameSize}));
}

TEST(Rfc9113, C1_7_GoawayWithAnUnknownCodeIsLikeAnyOther) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  EXPECT_TRUE(peer.Write(FrameType::kGoaway, 0, 0, Number(0) + Number(0xff)));
  peer.Answer(0, "answer");
  EXPECT_EQ(peer.ReadBody(1), "answer");
}

TEST(Rfc9113, C1_7_ResetWithAnUnknownCodeEndsItsStreamAlone) {
  RawPeer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  peer.WriteReset(1, static_cast<H2Error>(0xff));
  EXPECT_THAT(peer.Heard(), EndsWith("; closed reset 255"));
  EXPECT_TRUE(peer.Lives());
}

}  // namespace
}  // namespace levee::h2_test
