// SPDX-License-Identifier: Apache-2.0
// Streams and unary calls through the binary, with a real gRPC service: cells E14 and W2.
#include <google/protobuf/descriptor.pb.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::system_clock;
using testing::HasSubstr;

constexpr milliseconds kTimeout{400};

// Unary and Sleep of test.Echo, which are unary, and Chat, which is a stream.
std::string StreamDescriptors() {
  google::protobuf::FileDescriptorSet set;
  auto& file = *set.add_file();
  file.set_package("test");
  auto& service = *file.add_service();
  service.set_name("Echo");
  for (const char* const name : {"Unary", "Sleep", "Chat"}) service.add_method()->set_name(name);
  service.mutable_method(2)->set_server_streaming(true);
  service.mutable_method(2)->set_client_streaming(true);
  return set.SerializeAsString();
}

// A sidecar whose policy has a timeout that is shorter than streams are.
class Streams : public testing::Test {
 protected:
  void Start(const std::string& policy = "", const std::string& upstream = "") {
    sidecar_ = std::make_unique<SidecarProcess>(
        ConfigParts{.endpoints = {service_.address()},
                    .policy = absl::StrCat(", timeout: 400ms", policy),
                    .upstream = upstream});
    channel_ = NewChannel(sidecar_->address());
  }

  // Opens a stream that has shown what it is.
  std::unique_ptr<ByteCall> OpenStream() const {
    auto call = std::make_unique<ByteCall>(channel_, "/test.Echo/Chat");
    EXPECT_TRUE(call->Start());
    for (const char* const message : {"one", "two"}) {
      EXPECT_TRUE(call->Write(message));
      EXPECT_EQ(call->Read(), message);
    }
    return call;
  }
  static void ExpectAlive(ByteCall& call) {
    EXPECT_TRUE(call.Write("more"));
    EXPECT_EQ(call.Read(), "more");
    EXPECT_TRUE(call.HalfClose());
    EXPECT_TRUE(call.Finish().ok());
  }

  // Returns when a unary call that is never answered has been ended by the timeout.
  void PassTheTimeout() const {
    const Reply late = CallUnary(channel_, "x", nullptr, "/test.Echo/Sleep");
    EXPECT_EQ(late.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  }

  // The deadline of the last call, as the service saw it; infinite if none was told.
  system_clock::time_point deadline() {
    const std::lock_guard lock(mutex_);
    return deadline_;
  }

  std::mutex mutex_;
  system_clock::time_point deadline_;
  FaultyService service_{[this](const SeenCall& call) {
    const std::lock_guard lock(mutex_);
    deadline_ = call.deadline;
    const bool denied = call.method.find("/made.Up") == 0;
    return denied ? Answer{.status = {StatusCode::UNIMPLEMENTED, "no such method"}} : Answer();
  }};
  std::unique_ptr<SidecarProcess> sidecar_;
  ChannelPtr channel_;
};

TEST_F(Streams, E14_ATimeoutEndsAUnaryCallAndNoStream) {
  Start();
  const auto stream = OpenStream();
  PassTheTimeout();
  ExpectAlive(*stream);
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="stream")", R"(code="OK")"}, 1));
  EXPECT_EQ(sidecar_->Sum("levee_calls_total", {R"(kind="unary")", R"(code="DEADLINE_EXCEEDED")"}),
            1);
}

TEST_F(Streams, E14_AQuietStreamOfAKnownMethodLivesThoughManyMethodsWereMadeUp) {
  Start();
  ExpectAlive(*OpenStream());
  // More than a worker keeps plans for.
  for (int i = 0; i < 10'100; ++i) {
    CallUnary(channel_, "x", nullptr, absl::StrCat("/made.Up/Method", i));
  }
  ByteCall quiet(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(quiet.Start());
  PassTheTimeout();
  PassTheTimeout();
  ExpectAlive(quiet);
  EXPECT_EQ(sidecar_->Sum("levee_limit_hits_total", {R"(limit="method_kinds")"}), 0);
  EXPECT_GT(sidecar_->Sum("levee_limit_hits_total", {R"(limit="routes_cached")"}), 0);
}

TEST_F(Streams, TheServiceIsToldTheTimeoutOnlyWhereADescriptorSaysUnary) {
  Start();
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  // kPatience, by the caller's deadline.
  EXPECT_GT(deadline(), system_clock::now() + 5 * kTimeout);

  const TempFile descriptors(StreamDescriptors());
  Start("", absl::StrCat(", descriptor_set: \"", descriptors.path(), "\""));
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  EXPECT_LE(deadline(), system_clock::now() + kTimeout);
  ByteCall stream(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start() && stream.Write("x"));
  EXPECT_EQ(stream.Read(), "x");
  EXPECT_GT(deadline(), system_clock::now() + 5 * kTimeout);
  PassTheTimeout();
  ExpectAlive(stream);
}

TEST_F(Streams, AStreamThatIsSilentForTooLongIsEndedAndTheCallerAndTheMetricsLearnWhy) {
  Start(", stream: {idle: 200ms}");
  const auto stream = OpenStream();
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(),
              HasSubstr("no message came in either direction for stream.idle"));
  EXPECT_TRUE(sidecar_->WaitForSum("levee_streams_ended_total", {R"(by="idle")"}, 1));
}

TEST_F(Streams, AStreamThatLastsTooLongIsEnded) {
  Start(", stream: {timeout: 600ms}");
  const auto stream = OpenStream();
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("stream.timeout"));
  EXPECT_TRUE(sidecar_->WaitForSum("levee_streams_ended_total", {R"(by="timeout")"}, 1));
}

TEST_F(Streams, ActiveCallsAreToldApart) {
  Start();
  const auto stream = OpenStream();
  EXPECT_TRUE(sidecar_->WaitForSum("levee_active_calls", {R"(kind="stream")"}, 1));
  EXPECT_EQ(sidecar_->Sum("levee_active_calls", {R"(kind="unary")"}), 0);
  ExpectAlive(*stream);
  EXPECT_TRUE(sidecar_->WaitForSum("levee_active_calls", {R"(kind="stream")"}, 0));
}

// The guard has no configuration, and 20 slots to begin with.
TEST(GuardedStreams, W2_SixtyQuietStreamsTakeNoSlotFromUnaryCalls) {
  FaultyService service;
  const GuardedServices guards({service.address()}, "");
  std::vector<std::unique_ptr<ByteCall>> streams;
  for (int i = 0; i < 60; ++i) {
    streams.push_back(std::make_unique<ByteCall>(guards.channel, "/test.Echo/Chat"));
    ASSERT_TRUE(streams.back()->Start() && streams.back()->Write("hello"));
    EXPECT_EQ(streams.back()->Read(), "hello");
    // The first of them show what they are by being quiet.
    if (i == 9) {
      EXPECT_TRUE(guards.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
    }
  }
  EXPECT_EQ(guards.sidecar->Sum("levee_guard_in_flight"), 0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(CallUnary(guards.channel).status.ok());
  EXPECT_EQ(guards.Refused(), 0);
  for (const auto& stream : streams) {
    EXPECT_TRUE(stream->HalfClose());
    EXPECT_TRUE(stream->Finish().ok());
  }
}

TEST(GuardedStreams, WhereStreamsHoldTheSlotsTheRefusalSaysSo) {
  FaultyService service;
  const GuardedServices guards({service.address()},
                               "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  ByteCall stream(guards.channel, "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start());
  for (const char* const message : {"one", "two"}) {
    ASSERT_TRUE(stream.Write(message));
    EXPECT_EQ(stream.Read(), message);
  }
  const Reply refused = CallUnary(guards.channel);
  EXPECT_EQ(refused.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("streams hold 1 of its 1 slots"));
  EXPECT_EQ(guards.sidecar->Sum("levee_guard_streams"), 1);
}

}  // namespace
}  // namespace levee
