// SPDX-License-Identifier: Apache-2.0
// The bounds on what a peer may make a session do for nothing.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "h2/raw_peer.h"
#include "wire/status.h"

namespace levee::h2_test {
namespace {

using h2::SessionLimit;
using Limits = std::vector<SessionLimit>;

Session::Options Options() {
  return {.header_block_bytes = 2000,
          .resets_per_second = 10,
          .control_frames_per_second = 10,
          .pending_frames = 50,
          .output_bytes = 1000};
}

struct Peer : RawPeer {
  Peer() : RawPeer(Session::Role::kServer, Options()) {}

  // A call that its caller takes back at once.
  bool OpenAndReset(int i) {
    WriteHeaders(2 * i + 1, RequestHead(), true);
    return WriteReset(2 * i + 1, H2Error::kCancel);
  }
  bool Ping() { return Write(FrameType::kPing, 0, 0, "12345678"); }
};

std::string FrameOf(FrameType type, uint8_t flags, int32_t stream, std::string_view payload) {
  return FrameHead(payload.size(), type, flags, stream).append(payload);
}

constexpr Errors kCalm = {H2Error::kEnhanceYourCalm};

TEST(SessionLimits, CallsTakenBackFasterThanAllowedEndTheConnection) {
  Peer peer;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(peer.OpenAndReset(i));
  EXPECT_FALSE(peer.OpenAndReset(20));
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kResets});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

// With the defaults, and after a quiet time: what is documented holds then, too.
struct PeerAfterAQuietTime : RawPeer {
  PeerAfterAQuietTime() : RawPeer(Session::Role::kServer) {
    now = Instant() + absl::Seconds(1);
    Ping();
    WriteSetting(SettingId::kInitialWindowSize, 70'000);
    WriteHeaders(1, RequestHead(), true);
    WriteReset(1, H2Error::kCancel);
    Read();
    now = now + absl::Hours(1);
  }
  bool Ping() { return Write(FrameType::kPing, 0, 0, "12345678"); }

  // Calls `write` until the session is of no more use; returns how often that went well.
  template <typename F>
  int WriteUntilTheEnd(F write) {
    int written = 0;
    while (written < 100'000 && write(written)) {
      ++written;
      if (written % 500 == 0) Read();
    }
    return written;
  }
};

TEST(SessionLimits, TenThousandResetsPassAtOnceAfterAQuietTime) {
  PeerAfterAQuietTime peer;
  EXPECT_EQ(peer.WriteUntilTheEnd([&](int i) {
    peer.WriteHeaders(2 * i + 3, RequestHead(), true);
    return peer.WriteReset(2 * i + 3, H2Error::kCancel);
  }),
            10'000);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kResets});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

TEST(SessionLimits, TenThousandControlFramesPassAtOnceAfterAQuietTime) {
  PeerAfterAQuietTime peer;
  EXPECT_EQ(peer.WriteUntilTheEnd([&](int) { return peer.Ping(); }), 10'000);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

TEST(SessionLimits, AHundredSettingsPassAtOnceAfterAQuietTime) {
  PeerAfterAQuietTime peer;
  EXPECT_EQ(peer.WriteUntilTheEnd([&](int i) {
    return peer.WriteSetting(SettingId::kInitialWindowSize, 1000 + i % 1000);
  }),
            100);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

TEST(SessionLimits, SettingsAreControlFramesAmongTheOthers) {
  Session::Options options = Options();
  options.control_frames_per_second = 1;
  RawPeer peer(Session::Role::kServer, options);
  peer.now = Instant() + absl::Hours(1);
  int settings = 0;
  while (settings < 100 && peer.WriteSetting(SettingId::kInitialWindowSize, settings)) ++settings;
  EXPECT_EQ(settings, 10);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
}

TEST(SessionLimits, C3_FiveHundredHonestCancelsASecondEndNothing) {
  RawPeer peer;
  for (int i = 0; i < 60 * 500; ++i) {
    // All of a second at once, as a caller cancels them whose deadlines fall together.
    if (i % 500 == 0) peer.now = peer.now + absl::Seconds(1);
    peer.WriteHeaders(2 * i + 1, RequestHead(), true);
    ASSERT_TRUE(peer.WriteReset(2 * i + 1, H2Error::kCancel)) << i;
    if (i % 500 == 0) peer.Read();
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

TEST(SessionLimits, CallsTakenBackAsOftenAsAllowedDoNot) {
  Peer peer;
  for (int i = 0; i < 100; ++i) {
    peer.now = Instant() + absl::Seconds(1 + 0.1 * i);
    EXPECT_TRUE(peer.OpenAndReset(i)) << i;
    peer.Read();
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

TEST(SessionLimits, AnswersThatAreCancelledAreNoResets) {
  Peer peer;
  for (int i = 0; i < 100; ++i) {
    peer.WriteHeaders(2 * i + 1, RequestHead(), true);
    Stream& stream = *peer.side.request(i).stream;
    h2::FillResponseHead(stream);
    stream.SendHead(false);
    peer.Read();
    EXPECT_TRUE(peer.WriteReset(2 * i + 1, H2Error::kCancel)) << i;
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

TEST(SessionLimits, ResetsThatThePeerProvokesCount) {
  Peer peer;
  bool goes_on = true;
  for (int i = 0; i < 21; ++i) {
    goes_on = peer.WriteHeaders(2 * i + 1, {{":method", "POST"}}, true);
    peer.Read();
  }
  EXPECT_FALSE(goes_on);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kResets});
}

TEST(SessionLimits, H20_ResetsOfStreamsThatNeverBeganCount) {
  Peer peer;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(peer.WriteReset(2 * i + 1, H2Error::kCancel));
  EXPECT_FALSE(peer.WriteReset(1, H2Error::kCancel));
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kResets});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

TEST(SessionLimits, FramesThatCarryNothingEndTheConnection) {
  Peer peer;
  bool goes_on = true;
  for (int i = 0; i < 101; ++i) {
    goes_on = peer.Ping();
    peer.Read();
  }
  EXPECT_FALSE(goes_on);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
}

TEST(SessionLimits, FramesThatCarrySomethingMakeUpForThem) {
  Peer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 8; ++j) EXPECT_TRUE(peer.Ping());
    EXPECT_TRUE(peer.WriteData(1, "x", false));
    peer.Read();
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

TEST(SessionLimits, AWindowUpdateThatIsOneTooManyFreesNoStreamThatWaitsForIt) {
  Session::Options options = Options();
  options.output_bytes = 1 << 20;
  RawPeer peer(Session::Role::kServer, options);
  peer.WriteHeaders(1, RequestHead(), true);
  Stream& stream = *peer.side.request(0).stream;
  h2::FillResponseHead(stream);
  stream.SendHead(false);
  peer.WriteSetting(SettingId::kInitialWindowSize, 1 << 20);
  stream.SendData(Bytes(std::string(100'000, 'x')), false);
  EXPECT_EQ(peer.ReadBody(1).size(), 65'535u);  // The connection's window.
  // Each lets one byte out, and does not make up for itself.
  while (peer.WriteWindowUpdate(0, 1)) EXPECT_EQ(peer.ReadBody(1), "x");
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
}

TEST(SessionLimits, WindowsThatAreReturnedFrameByFrameDoNot) {
  constexpr size_t kFrame = 16'384;
  Session::Options options = Options();
  options.output_bytes = 1 << 20;
  RawPeer peer(Session::Role::kServer, options);
  peer.WriteHeaders(1, RequestHead(), true);
  Stream& stream = *peer.side.request(0).stream;
  h2::FillResponseHead(stream);
  stream.SendHead(false);
  stream.SendData(Bytes(std::string(65'535, 'x')), false);
  EXPECT_EQ(peer.ReadBody(1).size(), 65'535u);
  for (int i = 0; i < 1000; ++i) {
    // All that the window lets out, each time.
    stream.SendData(Bytes(std::string(kFrame, 'x')), false);
    EXPECT_TRUE(peer.WriteWindowUpdate(0, kFrame));
    EXPECT_TRUE(peer.WriteWindowUpdate(1, kFrame));
    EXPECT_EQ(peer.ReadBody(1).size(), kFrame);
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

TEST(SessionLimits, SettingsAreFewWhateverElseComes) {
  Peer peer;
  peer.WriteHeaders(1, RequestHead(), false);
  int settings = 0;
  while (peer.WriteSetting(SettingId::kInitialWindowSize, settings % 1000) && settings < 1000) {
    ++settings;
    peer.WriteData(1, "x", false);
    peer.Read();
  }
  EXPECT_LE(settings, 100);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
}

TEST(SessionLimits, OfManyWindowsInOneSettingsTheLastCounts) {
  Peer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  std::string entries;
  for (int i = 0; i < 2700; ++i) entries += std::string("\0\4\0\0\0", 5) + static_cast<char>(i % 7);
  EXPECT_TRUE(peer.Write(FrameType::kSettings, 0, 0, entries));
  Stream& stream = *peer.side.request(0).stream;
  h2::FillResponseHead(stream);
  stream.SendHead(false);
  stream.SendData(Bytes("123456789"), false);
  EXPECT_EQ(peer.ReadBody(1), "1234");  // 2699 % 7
}

TEST(SessionLimits, H16_AnUpstreamWithTooManySettingsFinishesTheCallsInFlight) {
  RawPeer peer(Session::Role::kClient);
  RecordingHandler call;
  peer.StartCall(call);
  RecordingHandler unsent;
  peer.side.session.Open(unsent).SendHead(true);
  peer.now = Instant() + absl::Hours(1);
  int settings = 0;
  while (settings < 1000 && peer.side.limits.empty()) {
    ASSERT_TRUE(peer.WriteSetting(SettingId::kInitialWindowSize, 1000 + settings)) << settings;
    if (settings++ == 0) peer.Read();
  }
  EXPECT_EQ(settings, 101);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kControlFrames});
  EXPECT_EQ(peer.side.goaways, 1);
  EXPECT_EQ(peer.side.session.FreeSlots(), 0);
  peer.Read();
  peer.WriteHeaders(1, ResponseHead(), false);
  peer.WriteHeaders(1, {{"grpc-status", "0"}}, true);
  EXPECT_NE(call.events.find("trailers grpc-status=0"), std::string::npos) << call.events;
}

TEST(SessionLimits, H16_AnUpstreamWithTenTimesAsManyIsClosed) {
  RawPeer peer(Session::Role::kClient);
  peer.now = Instant() + absl::Hours(1);
  int settings = 0;
  while (settings < 5000 && peer.WriteSetting(SettingId::kInitialWindowSize, 1000 + settings)) {
    if (++settings % 10 == 0) peer.Read();
  }
  EXPECT_EQ(settings, 1100);
  EXPECT_TRUE(peer.side.session.broken());
  EXPECT_EQ(peer.side.goaways, 1);
}

TEST(SessionLimits, AnswersThatAreNotReadEndTheConnection) {
  Peer peer;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(peer.Ping());
  EXPECT_FALSE(peer.Ping());
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kPendingFrames});
}

TEST(SessionLimits, AHeaderBlockWithoutEndEndsTheConnection) {
  Peer peer;
  EXPECT_TRUE(peer.Write(FrameType::kHeaders, 0, 1, ""));
  bool goes_on = true;
  // Empty frames count by their heads: 9 bytes each.
  for (int i = 0; i < 223 && goes_on; ++i) {
    goes_on = peer.Write(FrameType::kContinuation, 0, 1, "");
    EXPECT_EQ(goes_on, i < 222) << i;
  }
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kHeaderBlock});
  EXPECT_TRUE(peer.ConnectionEnds(kCalm));
}

TEST(SessionLimits, H6_ABlockThatHasBegunIsUnfinishedUntilItIsWhole) {
  Peer peer;
  EXPECT_EQ(peer.side.session.unfinished_bytes(), 0u);
  const std::string block = Encode(RequestHead());
  const std::string begun = FrameOf(FrameType::kHeaders, kEndStream, 1, "");
  const std::string rest = FrameOf(FrameType::kContinuation, kEndHeaders, 1, block);
  peer.Write(begun);
  EXPECT_GT(peer.side.session.unfinished_bytes(), 0u);
  EXPECT_TRUE(peer.side.session.unfinished_anew());
  peer.Write(rest.substr(0, 12));
  EXPECT_GT(peer.side.session.unfinished_bytes(), 3u);
  EXPECT_FALSE(peer.side.session.unfinished_anew());
  // A busy caller's reads may all end within a frame, each time within another.
  peer.Write(rest.substr(12) + FrameOf(FrameType::kHeaders, kEndStream, 3, ""));
  EXPECT_GT(peer.side.session.unfinished_bytes(), 0u);
  EXPECT_TRUE(peer.side.session.unfinished_anew());
  peer.Write(FrameOf(FrameType::kContinuation, kEndHeaders, 3, block));
  EXPECT_EQ(peer.side.session.unfinished_bytes(), 0u);
  EXPECT_EQ(peer.side.requests.size(), 2u);
}

TEST(SessionLimits, ABodyThatIsNotReadEndsTheConnection) {
  Peer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  Stream& stream = *peer.side.request(0).stream;
  h2::FillResponseHead(stream);
  stream.SendHead(false);
  stream.SendData(Bytes(std::string(1000, 'x')), false);
  EXPECT_EQ(peer.side.limits, Limits{});
  stream.SendData(Bytes("y"), false);
  EXPECT_EQ(peer.side.limits, Limits{SessionLimit::kOutput});
  EXPECT_TRUE(peer.side.session.broken());
}

TEST(SessionLimits, ABodyThatIsReadDoesNotCountAnyMore) {
  Peer peer;
  peer.WriteHeaders(1, RequestHead(), true);
  Stream& stream = *peer.side.request(0).stream;
  h2::FillResponseHead(stream);
  stream.SendHead(false);
  for (int i = 0; i < 10; ++i) {
    stream.SendData(Bytes(std::string(1000, 'x')), false);
    EXPECT_EQ(peer.ReadBody(1).size(), 1000u);
  }
  EXPECT_EQ(peer.side.limits, Limits{});
}

}  // namespace
}  // namespace levee::h2_test
