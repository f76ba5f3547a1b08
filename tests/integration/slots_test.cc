// Upstreams that leave few places for streams, or take them away at once.
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

auto In(std::chrono::milliseconds span) { return std::chrono::system_clock::now() + span; }

TEST(Slots, ThePlaceOfACancelledCallGoesToTheOneThatWaits) {
  // One stream at a time (SETTINGS_MAX_CONCURRENT_STREAMS = 1), the first call is never answered,
  // and further connections never become ready: only the cancelled call's place is left.
  RawUpstream upstream([](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    if (!peer.Handshake(std::string("\0\3\0\0\0\1", 6))) return;
    peer.NextRequest();
    peer.AnswerRest();
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()}, .upstream = ", connect_timeout: 60s"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall stuck(channel, "/test.Echo/Unary");
  stuck.context().set_deadline(In(std::chrono::milliseconds(300)));
  ASSERT_TRUE(stuck.Start());
  ASSERT_TRUE(stuck.Write("x"));
  ASSERT_TRUE(stuck.HalfClose());
  const Reply reply = CallUnary(channel, "x", [](grpc::ClientContext& context) {
    context.set_deadline(In(std::chrono::milliseconds(2000)));
  });
  EXPECT_EQ(reply.body, "fine");
  EXPECT_EQ(stuck.Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
}

TEST(Slots, AnUpstreamThatSendsEveryConnectionAwayIsNotDialledWithoutPause) {
  RawUpstream upstream([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    peer.WriteGoaway(0);
    peer.ReadToEnd();
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .retry = "{max_attempts: 2, exhausted: keep}",
                          .upstream = ", reconnect: {initial: 200ms, max: 10s, jitter: none}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_LE(upstream.connections(), 5);
}

TEST(Slots, A22_TheTimeSpentWaitingForAConnectionIsNotGivenToTheUpstream) {
  std::string timeout;
  RawUpstream upstream([&](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    if (!peer.Handshake(std::string("\0\3\0\0\0\1", 6))) return;
    peer.NextRequest();
    const auto second = peer.NextRequest();
    if (!second.has_value()) return;
    for (const auto& [name, value] : second->head) {
      if (name == "grpc-timeout") timeout = value;
    }
    peer.Answer(second->stream);
    peer.AnswerRest();
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()}, .upstream = ", connect_timeout: 60s"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall first(channel, "/test.Echo/Unary");
  first.context().set_deadline(In(std::chrono::milliseconds(400)));
  ASSERT_TRUE(first.Start());
  ASSERT_TRUE(first.Write("x"));
  ASSERT_TRUE(first.HalfClose());
  EXPECT_FALSE(CallUnary(channel, "x", [](grpc::ClientContext& context) {
                 context.set_deadline(In(std::chrono::milliseconds(2000)));
               }).body.empty());
  EXPECT_EQ(first.Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
  // Nanoseconds with 8 digits reach only 99 ms, microseconds all of it: "1xxxxxxu".
  ASSERT_FALSE(timeout.empty());
  EXPECT_EQ(timeout.back(), 'u');
  EXPECT_LT(std::stol(timeout), 1'800'000);
}

}  // namespace
}  // namespace levee
