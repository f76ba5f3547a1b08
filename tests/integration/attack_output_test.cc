// SPDX-License-Identifier: Apache-2.0
// Callers that ask for much and read nothing of it.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/real_time.h"
#include "integration/scripted.h"

namespace levee {
namespace {

constexpr uint32_t kHugeWindow = 0x7fffffff;

// A call for `count` messages of `size` bytes.
std::string StreamingCall(int call, int count, int size) {
  HeaderList head = RawClient::CallHead();
  head[2].second = "/test.Echo/Stream";
  const std::string asked = std::to_string(count) + " " + std::to_string(size);
  return EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head)) +
         EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), GrpcMessage(asked));
}

// Grants windows without end and reads nothing.
struct DeafCaller : Attacker {
  explicit DeafCaller(const SidecarProcess& sidecar)
      : Attacker(sidecar.address(), Reading::kNothing,
                 Setting(SettingId::kInitialWindowSize, kHugeWindow)) {
    Send(EncodeFrame(FrameType::kWindowUpdate, 0, 0, Number(kHugeWindow - 65'535)));
  }
};

// With an honest caller beside the deaf one.
class DeafCallers : public testing::Test {
 protected:
  void Start(const std::string& limits) {
    std::vector<std::string> endpoints;
    for (const FaultyService& service : services_) endpoints.push_back(service.address());
    sidecar_ = std::make_unique<SidecarProcess>(
        ConfigParts{.endpoints = endpoints, .more = "limits: {" + limits + "}\n"});
    channel_ = NewChannel(sidecar_->address());
    for (int i = 0; i < 10; ++i) ExpectOthersGoOn();
    resident_ = sidecar_->process().ResidentBytes();
  }

  void ExpectOthersGoOn() {
    EXPECT_TRUE(CallUnary(channel_, std::string(100'000, 'o')).status.ok());
  }

  void ExpectGrownLessThan(long bytes) {
    EXPECT_LT(sidecar_->process().ResidentBytes() - resident_, bytes + kSanitizerMayKeep);
  }

  // Only the honest caller is left.
  void ExpectClosedBy(const std::string& limit) {
    EXPECT_TRUE(sidecar_->WaitForSum("levee_limit_hits_total", {"limit=\"" + limit + "\""}, 1));
    EXPECT_TRUE(sidecar_->WaitForSum("levee_downstream_connections", {}, 1));
    EXPECT_TRUE(sidecar_->WaitForSum("levee_active_calls", {}, 0));
    ExpectOthersGoOn();
  }

  FaultyService services_[3];
  std::unique_ptr<SidecarProcess> sidecar_;
  ChannelPtr channel_;
  long resident_ = 0;
};

TEST_F(DeafCallers, C8_AreGivenUpAfterTheSendTimeout) {
  Start("send_timeout: 300ms");
  DeafCaller deaf(*sidecar_);
  for (int call = 0; call < 20; ++call) deaf.Send(StreamingCall(call, 1000, 100'000));
  ExpectClosedBy("send_timeout");
}

TEST_F(DeafCallers, H8_ThatKeepTheirWindowsShutAreGivenUpToo) {
  Start("send_timeout: 300ms, idle_frames_per_second: 1000000, pending_frames: 1000000");
  Attacker shut(sidecar_->address(), Attacker::Reading::kAll,
                Setting(SettingId::kInitialWindowSize, 0));
  shut.Send(StreamingCall(0, 10, 1000));
  // It takes answers to PINGs meanwhile, but nothing that waits.
  EXPECT_TRUE(Eventually([&] {
    return !shut.Send(EncodeFrame(FrameType::kPing, 0, 0, "12345678"));
  })) << "it is not given up";
  ExpectClosedBy("send_timeout");
}

using DeafCallersSoak = DeafCallers;

TEST_F(DeafCallersSoak, H8_ThatOpenTheirWindowsNowAndThenAreNotGivenUp) {
  Start("send_timeout: 1s");
  RawClient slow(sidecar_->address(), Setting(SettingId::kInitialWindowSize, 0));
  slow.KeepWindowsShut();
  slow.connection().Send(StreamingCall(0, 10, 1000));
  for (int i = 0; i < 30; ++i) {
    slow.WriteWindowUpdate(1, 10);
    PassRealTime(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(Hits(*sidecar_, "send_timeout"), 0);
  EXPECT_EQ(sidecar_->Sum("levee_downstream_connections"), 2);
}

TEST_F(DeafCallers, C8_CostLittleMemoryWhileTheyAreWaitedFor) {
  Start("send_timeout: none");
  DeafCaller deaf(*sidecar_);
  for (int call = 0; call < 100; ++call) deaf.Send(StreamingCall(call, 1000, 100'000));
  for (int i = 0; i < 200; ++i) ExpectOthersGoOn();
  // The window of each call, 25 MiB together, in blocks that are an eighth larger at most; and 4.3
  // MiB that is read into.
  ExpectGrownLessThan(34 * kMiB);
  EXPECT_EQ(sidecar_->Sum("levee_downstream_connections"), 2);
}

TEST_F(DeafCallers, C8_MayHaveSoManyBytesWait) {
  Start("output_bytes: 1MiB, send_timeout: none");
  DeafCaller deaf(*sidecar_);
  for (int call = 0; call < 100; ++call) deaf.Send(StreamingCall(call, 1000, 100'000));
  ExpectClosedBy("output_bytes");
}

TEST_F(DeafCallers, C8_MayHaveSoManyFramesWait) {
  Start("idle_frames_per_second: 1000000, send_timeout: none");
  Attacker deaf(sidecar_->address(), Attacker::Reading::kNothing);
  std::string thousand;
  for (int i = 0; i < 1000; ++i) thousand += EncodeFrame(FrameType::kPing, 0, 0, "12345678");
  deaf.Flood(5'000, [&](int) { return thousand; });
  ExpectClosedBy("pending_frames");
  ExpectGrownLessThan(16 * kMiB);
}

TEST_F(DeafCallersSoak, C8_ThatReadSlowlyAreNotGivenUp) {
  Start("send_timeout: 1s");
  RawClient slow(sidecar_->address(), Setting(SettingId::kInitialWindowSize, kHugeWindow));
  slow.WriteWindowUpdate(0, kHugeWindow - 65'535);
  slow.KeepWindowsShut();  // They are open without end.
  slow.connection().Send(StreamingCall(0, 1500, 16'000));
  // Takes a mebibyte ten times a second, for longer than the timeout.
  size_t bytes = 0;
  for (bool ended = false; !ended;) {
    const auto frame = slow.Read();
    ASSERT_TRUE(frame.has_value()) << "after " << bytes;
    if (frame->type == FrameType::kHeaders) slow.Decode(*frame);
    const size_t before = bytes;
    if (frame->type == FrameType::kData) bytes += frame->payload.size();
    if (before / kMiB != bytes / kMiB) PassRealTime(std::chrono::milliseconds(100));
    ended = frame->type == FrameType::kHeaders && frame->ends_stream();
  }
  EXPECT_EQ(bytes, 1500u * 16'005);
  EXPECT_EQ(Hits(*sidecar_, "send_timeout"), 0);
}

// The same in the other direction.
TEST(DeafUpstream, C8_IsGivenUpAfterTheSendTimeout) {
  Told<bool> over;
  RawUpstream upstream([&over](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    peer.Handshake(Setting(SettingId::kInitialWindowSize, kHugeWindow));
    peer.WriteWindowUpdate(0, kHugeWindow - 65'535);
    over.Next();
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .retry = kNoRetry,
                          .more = "limits: {send_timeout: 300ms}\n"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sink");
  ASSERT_TRUE(call.Start());
  call.BeginWrite(std::string(64 * kMiB, 'u'));
  call.WaitWritten();
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Hits(sidecar, "send_timeout"), 1);
  over.Tell(true);
}

TEST(DeafUpstream, ThatKeepsItsWindowsShutLosesTheCallAfterTheSendTimeout) {
  Told<bool> over;
  RawUpstream upstream([&over](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    peer.Handshake(Setting(SettingId::kInitialWindowSize, 0));
    over.Next();
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .retry = kNoRetry,
                          .more = "limits: {send_timeout: 300ms}\n"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sink");
  ASSERT_TRUE(call.Start());
  call.BeginWrite("hello");
  call.WaitWritten();
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("limits.send_timeout"));
  EXPECT_EQ(Hits(sidecar, "send_timeout"), 1);
  over.Tell(true);
}

TEST(StalledStreams, C9_AThousandOfThemHarmNoOther) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  RawClient stalled(sidecar.address(), Setting(SettingId::kInitialWindowSize, 0));
  // More than one upstream connection's window holds, were it shared with those that go on.
  for (int call = 0; call < 1000; ++call) stalled.connection().Send(StreamingCall(call, 1, 4'000));
  // The service has ended them all; what it said waits for the caller.
  ASSERT_TRUE(sidecar.WaitForSum("levee_calls_total", {R"(code="OK")"}, 1000));
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(CallUnary(channel, std::string(300'000, 'o')).status.ok());
  }
  // Of the same connection, those that are given a window go on.
  for (const int call : {0, 500, 999}) {
    stalled.WriteWindowUpdate(StreamOf(call), 10'000);
    const RawAnswer answer = stalled.AnswerTo(StreamOf(call));
    EXPECT_EQ(answer.body.size(), 4'005u);
    EXPECT_EQ(answer.grpc_status(), "0");
  }
}

}  // namespace
}  // namespace levee
