// SPDX-License-Identifier: Apache-2.0
// Bytes arrive through the sidecar as they were sent.
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

constexpr size_t kLargeMessage = 1024 * 1024;

// Every byte value occurs, and no two parts are alike.
std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

class Bytes : public testing::Test {
 protected:
  FaultyService service_;
  SidecarProcess sidecar_{ConfigParts{.endpoints = {service_.address()}}};
  ChannelPtr channel_ = NewChannel(sidecar_.address());
};

TEST_F(Bytes, UnaryMessagesOfAnySizeArriveUnchangedBothWays) {
  for (const size_t size : {size_t{0}, size_t{100}, kLargeMessage, 4 * kLargeMessage}) {
    const std::string body = Pattern(size);
    const Reply reply = CallUnary(channel_, body);
    EXPECT_TRUE(reply.status.ok()) << size << " " << reply.status.error_message();
    EXPECT_TRUE(reply.body == body) << size;
  }
  EXPECT_EQ(service_.calls(), 4);
}

TEST_F(Bytes, AllMessagesOfAClientStreamArriveInOrder) {
  ByteCall call(channel_, "/test.Echo/Collect");
  ASSERT_TRUE(call.Start());
  std::string sent;
  for (size_t i = 0; i < 200; ++i) {
    const std::string message = Pattern(i * 40) + std::to_string(i);
    sent += message;
    ASSERT_TRUE(call.Write(message));
  }
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Read() == sent);
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Bytes, AllMessagesOfAServerStreamArrive) {
  ByteCall call(channel_, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("2000 1000"));
  ASSERT_TRUE(call.HalfClose());
  int messages = 0;
  while (const auto message = call.Read()) messages += message->size() == 1000 ? 1 : 1000000;
  EXPECT_EQ(messages, 2000);
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Bytes, ABidirectionalCallAnswersEachMessageBeforeTheNext) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  for (const size_t size : {27182u, 8u, 1828u, 45904u, 0u}) {
    const std::string message = Pattern(size);
    ASSERT_TRUE(call.Write(message));
    EXPECT_TRUE(call.Read() == message) << size;
  }
  ASSERT_TRUE(call.HalfClose());
  EXPECT_FALSE(call.Read().has_value());
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Bytes, AnEmptyStreamEndsWell) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_FALSE(call.Read().has_value());
  EXPECT_TRUE(call.Finish().ok());
}

TEST(Held, A20_ABidirectionalCallerThatWaitsForTheHeadIsNotHeld) {
  FaultyService service([](const SeenCall&) {
    Answer answer;
    answer.send_head = true;
    answer.head = {{"x-early", "yes"}};
    return answer;
  });
  // A hold would last longer than the call may.
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{hold: 10m}"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.ReadHead());
  EXPECT_EQ(Values(call.head(), "x-early"), "yes");
  ASSERT_TRUE(call.Write("now"));
  EXPECT_EQ(call.Read(), "now");
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Finish().ok());
}

TEST(Held, A20_AHeadIsForwardedAfterTheHold) {
  FaultyService service([](const SeenCall&) {
    Answer answer;
    answer.send_head = true;
    return answer;
  });
  SidecarProcess sidecar({.endpoints = {service.address()}});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sink");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.ReadHead());  // The service answers no message before its release.
  service.Release();
  EXPECT_EQ(call.Read(), "0");
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Bytes, TheServiceMayFinishBeforeTheCallerHasHalfClosed) {
  for (int i = 0; i < 20; ++i) {
    ByteCall call(channel_, "/test.Echo/Eager");
    ASSERT_TRUE(call.Start());
    ASSERT_TRUE(call.Write("one"));
    EXPECT_EQ(call.Read(), "one");
    EXPECT_TRUE(call.Finish().ok());
  }
}

TEST_F(Bytes, ACompleteAnswerReachesACallerThatStillSends) {
  ByteCall call(channel_, "/test.Echo/Eager");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write(Pattern(1000)));
  // More than every window on the way takes, and nobody reads it.
  call.BeginWrite(Pattern(8 * kLargeMessage));
  EXPECT_TRUE(call.Read() == Pattern(1000));
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Bytes, A22_TheServiceSeesADeadlineThatIsAtMostTheCallers) {
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(15);
  const Reply reply =
      CallUnary(channel_, "x", [&](grpc::ClientContext& c) { c.set_deadline(deadline); });
  EXPECT_TRUE(reply.status.ok());
  // The clocks of both ends round; the service's deadline also starts as the head arrives there.
  const auto slack = std::chrono::seconds(1);
  const SeenCall seen = service_.seen().at(0);
  EXPECT_THAT(seen.deadline, AllOf(Ge(deadline - slack), Le(deadline + slack + (seen.at - start))));
}

TEST_F(Bytes, A21_ADeadlineEndsTheCallAndCancelsIt) {
  const auto start = std::chrono::steady_clock::now();
  ByteCall call(channel_, "/test.Echo/Sleep");
  call.context().set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  ASSERT_TRUE(call.Start());
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(990));
  // On a machine that has no time the call may not have come so far.
  EXPECT_TRUE(sidecar_.WaitForSum("levee_active_calls", {}, 0));
  EXPECT_TRUE(service_.WaitFor([&] { return service_.cancelled() == service_.calls(); }));
}

TEST_F(Bytes, A26_TheCallersCancellationReachesTheService) {
  ByteCall call(channel_, "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 1; }));
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(service_.WaitFor([&] { return service_.cancelled() == 1; }));
  EXPECT_TRUE(sidecar_.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, 1));
  EXPECT_EQ(sidecar_.Sum("levee_retries_total"), 0);
}

TEST_F(Bytes, ACancellationAfterTheFirstAnswerReachesTheService) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("one"));
  EXPECT_EQ(call.Read(), "one");
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(service_.WaitFor([&] { return service_.cancelled() == 1; }));
}

TEST_F(Bytes, A27_ALostConnectionCancelsAllItsCalls) {
  {
    const ChannelPtr channel = NewChannel(sidecar_.address());
    ByteCall first(channel, "/test.Echo/Sleep"), second(channel, "/test.Echo/Chat");
    ASSERT_TRUE(first.Start());
    ASSERT_TRUE(second.Start());
    ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 2; }));
  }
  EXPECT_TRUE(service_.WaitFor([&] { return service_.cancelled() == 2; }));
  EXPECT_TRUE(sidecar_.WaitForSum("levee_active_calls", {}, 0));
}

}  // namespace
}  // namespace levee
