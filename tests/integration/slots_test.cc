// SPDX-License-Identifier: Apache-2.0
// Upstreams that leave few places for streams, or take them away at once.
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;

// One stream at a time (SETTINGS_MAX_CONCURRENT_STREAMS = 1), the first call is never answered, and
// further connections never become ready: only the place of the first call is left.
struct OnePlace {
  // Returns when the first call has the place.
  void Start() {
    ASSERT_TRUE(first.Start() && first.Write("x") && first.HalfClose());
    ASSERT_TRUE(has_place.Next().has_value());
  }
  // Returns when the second call waits for it.
  void AwaitSecond() { ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 2)); }

  Told<bool> has_place;  // the first call
  std::string timeout;   // of the second call, as the upstream saw it
  RawUpstream upstream{[this](UpstreamPeer& peer) {
    if (peer.number() > 1) return peer.ReadToEnd();
    if (!peer.Handshake(std::string("\0\3\0\0\0\1", 6))) return;
    if (!peer.NextRequest().has_value()) return;
    has_place.Tell(true);
    const auto request = peer.NextRequest();
    if (!request.has_value()) return;
    timeout = Values(request->head, "grpc-timeout");
    peer.Answer(request->stream);
    peer.AnswerRest();
  }};
  SidecarProcess sidecar{
      ConfigParts{.endpoints = {upstream.address()}, .upstream = ", connect_timeout: 10m"}};
  ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall first{channel, "/test.Echo/Unary"};
};

TEST(Slots, ThePlaceOfACancelledCallGoesToTheOneThatWaits) {
  OnePlace run;
  ASSERT_NO_FATAL_FAILURE(run.Start());
  ByteCall second(run.channel, "/test.Echo/Unary");
  ASSERT_TRUE(second.Start() && second.Write("x") && second.HalfClose());
  ASSERT_NO_FATAL_FAILURE(run.AwaitSecond());
  run.first.context().TryCancel();
  EXPECT_EQ(run.first.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_EQ(second.Read(), "fine");
  EXPECT_TRUE(second.Finish().ok());
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
  const auto start = std::chrono::steady_clock::now();
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  // All but a few connections have had to wait for their turn.
  const auto pauses = (upstream.connections() - 5) * std::chrono::milliseconds(200);
  EXPECT_GE(std::chrono::steady_clock::now() - start, pauses);
}

TEST(Slots, A22_TheTimeSpentWaitingForAConnectionIsNotGivenToTheUpstream) {
  OnePlace run;
  ASSERT_NO_FATAL_FAILURE(run.Start());
  RawClient caller(run.sidecar.address());
  const int32_t second = caller.Call({{"grpc-timeout", "90S"}});
  ASSERT_NO_FATAL_FAILURE(run.AwaitSecond());
  const auto waits = std::chrono::steady_clock::now();
  EXPECT_EQ(run.sidecar.Sum("levee_active_calls"), 2);  // However long that takes, it is waited.
  const auto waited = std::chrono::steady_clock::now() - waits;
  run.first.context().TryCancel();
  EXPECT_EQ(caller.AnswerTo(second).grpc_status(), "0");
  // Microseconds hold it in eight digits.
  ASSERT_FALSE(run.timeout.empty());
  EXPECT_EQ(run.timeout.back(), 'u');
  EXPECT_LE(std::chrono::microseconds(std::stol(run.timeout)), std::chrono::seconds(90) - waited);
}

}  // namespace
}  // namespace levee
