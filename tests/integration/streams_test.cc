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

// A method of each type, of test.Echo.
std::string StreamDescriptors() {
  google::protobuf::FileDescriptorSet set;
  auto& file = *set.add_file();
  file.set_package("test");
  auto& service = *file.add_service();
  service.set_name("Echo");
  const auto add = [&](const char* name, bool client, bool server) {
    auto& method = *service.add_method();
    method.set_name(name);
    method.set_client_streaming(client);
    method.set_server_streaming(server);
  };
  add("Unary", false, false);
  add("Sleep", false, false);
  add("Collect", true, false);
  add("Stream", false, true);
  add("Chat", true, true);
  return set.SerializeAsString();
}

// A sidecar whose policy has a timeout that is shorter than streams are.
class Streams : public testing::Test {
 protected:
  void Start(const std::string& policy = "", const std::string& upstream = "",
             const std::string& timeout = "400ms") {
    sidecar_ = std::make_unique<SidecarProcess>(
        ConfigParts{.endpoints = {service_.address()},
                    .policy = absl::StrCat(", timeout: ", timeout, policy),
                    .upstream = upstream});
    channel_ = NewChannel(sidecar_->address());
  }

  void StartDescribed(const std::string& timeout = "400ms") {
    Start("", absl::StrCat(", descriptor_set: \"", descriptors_.path(), "\""), timeout);
  }

  // Opens a call of each type, none of which has a message.
  std::vector<std::unique_ptr<ByteCall>> OpenOneOfEachType() const {
    std::vector<std::unique_ptr<ByteCall>> calls;
    for (const char* const method : {"Unary", "Collect", "Stream", "Chat"}) {
      calls.push_back(std::make_unique<ByteCall>(channel_, absl::StrCat("/test.Echo/", method)));
      EXPECT_TRUE(calls.back()->Start());
    }
    return calls;
  }
  bool WaitForActive(int unary, int streams) const {
    return sidecar_->WaitForSum("levee_active_calls", {R"(kind="unary")"}, unary) &&
           sidecar_->WaitForSum("levee_active_calls", {R"(kind="stream")"}, streams) &&
           sidecar_->Sum("levee_active_calls") == unary + streams;
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
  const TempFile descriptors_{StreamDescriptors()};
  std::unique_ptr<SidecarProcess> sidecar_;
  ChannelPtr channel_;
};

TEST_F(Streams, ADescriptorSaysWhatACallIsBeforeItsFirstMessage) {
  StartDescribed("1h");
  const auto calls = OpenOneOfEachType();
  EXPECT_TRUE(WaitForActive(/*unary=*/1, /*streams=*/3));
}

TEST_F(Streams, WithoutADescriptorItsMessagesSayIt) {
  Start("", "", "1h");
  const auto calls = OpenOneOfEachType();
  EXPECT_TRUE(WaitForActive(/*unary=*/4, /*streams=*/0));
  ByteCall& collect = *calls[1];
  ASSERT_TRUE(collect.Write("one") && collect.Write("two"));
  EXPECT_TRUE(WaitForActive(/*unary=*/3, /*streams=*/1));
  ByteCall& stream = *calls[2];
  ASSERT_TRUE(stream.Write("2 1") && stream.HalfClose());
  while (stream.Read().has_value()) {
  }
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="stream")", R"(code="OK")"}, 1));
  EXPECT_TRUE(WaitForActive(/*unary=*/2, /*streams=*/1));
}

TEST_F(Streams, AStreamOfOneMessageThatEndsAtOnceIsUnaryWhereNoDescriptorKnowsBetter) {
  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromString(StreamDescriptors()));
  // To the service and on the wire all is the same.
  set.mutable_file(0)->mutable_service(0)->mutable_method(0)->set_server_streaming(true);
  const TempFile as_stream(set.SerializeAsString());
  Start();
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="unary")"}, 1));
  Start("", absl::StrCat(", descriptor_set: \"", as_stream.path(), "\""));
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="stream")"}, 1));
}

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

  StartDescribed();
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

TEST_F(Streams, AStreamIsInNoHistogramOfDurations) {
  Start("", "", "1h");
  ExpectAlive(*OpenStream());
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="stream")"}, 1));
  EXPECT_TRUE(sidecar_->WaitForSum("levee_calls_total", {R"(kind="unary")"}, 1));
  EXPECT_EQ(sidecar_->Sum("levee_call_duration_seconds_count"), 1);
  EXPECT_EQ(sidecar_->Sum("levee_attempt_duration_seconds_count"), 1);
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

// They are chatty, and all wake at the same time.
TEST(GuardedStreams, W2b_SixtyStreamsThatWakeAtOnceTakeNoSlotFromUnaryCalls) {
  FaultyService service;
  const GuardedServices guards({service.address()}, "");
  for (const char* const method : {"/test.Echo/Chat", "/test.Echo/Collect"}) {
    const bool answers = method == std::string("/test.Echo/Chat");
    std::vector<std::unique_ptr<ByteCall>> streams;
    for (int i = 0; i < 60; ++i) {
      streams.push_back(std::make_unique<ByteCall>(guards.channel, method));
      ASSERT_TRUE(streams.back()->Start());
      for (int message = 0; message < 2; ++message) {
        ASSERT_TRUE(streams.back()->Write("hello"));
        if (answers) {
          EXPECT_EQ(streams.back()->Read(), "hello");
        }
      }
      EXPECT_TRUE(guards.sidecar->WaitForSum("levee_guard_in_flight", {}, 0));
    }
    for (int round = 0; round < 10; ++round) {
      for (const auto& stream : streams) stream->BeginWrite("more");
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(CallUnary(guards.channel).status.ok());
      for (const auto& stream : streams) {
        EXPECT_TRUE(stream->WaitWritten());
        if (answers) {
          EXPECT_EQ(stream->Read(), "more");
        }
      }
    }
    for (const auto& stream : streams) {
      EXPECT_TRUE(stream->HalfClose());
      if (!answers) {
        EXPECT_TRUE(stream->Read().has_value());
      }
      EXPECT_TRUE(stream->Finish().ok());
    }
  }
  EXPECT_EQ(guards.Refused(), 0);
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
