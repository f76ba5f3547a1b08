// SPDX-License-Identifier: Apache-2.0
// Upstreams that leave few places for streams, or take them away at once.
#include <poll.h>

#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;

auto In(std::chrono::milliseconds span) { return std::chrono::system_clock::now() + span; }

// One stream at a time (SETTINGS_MAX_CONCURRENT_STREAMS = 1), the first call is never answered, and
// further connections never become ready: only the place of the first call is left.
struct OnePlace {
  // Returns when the second call waits for the place.
  void Start(std::chrono::milliseconds second_deadline) {
    second.context().set_deadline(In(second_deadline));
    for (ByteCall* call : {&first, &second}) {
      ASSERT_TRUE(call->Start());
      ASSERT_TRUE(call->Write("x"));
      ASSERT_TRUE(call->HalfClose());
      if (call == &first) {
        ASSERT_TRUE(has_place.Next().has_value());
      }
    }
    ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 2));
  }

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
      ConfigParts{.endpoints = {upstream.address()}, .upstream = ", connect_timeout: 60s"}};
  ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall first{channel, "/test.Echo/Unary"}, second{channel, "/test.Echo/Unary"};
};

TEST(Slots, ThePlaceOfACancelledCallGoesToTheOneThatWaits) {
  OnePlace run;
  ASSERT_NO_FATAL_FAILURE(run.Start(kPatience));
  run.first.context().TryCancel();
  EXPECT_EQ(run.first.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_EQ(run.second.Read(), "fine");
  EXPECT_TRUE(run.second.Finish().ok());
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
  const auto pauses = (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(200);
  EXPECT_LE(upstream.connections(), 5 + pauses);
}

TEST(Slots, A22_TheTimeSpentWaitingForAConnectionIsNotGivenToTheUpstream) {
  OnePlace run;
  const auto deadline = In(std::chrono::seconds(15));
  ASSERT_NO_FATAL_FAILURE(run.Start(std::chrono::seconds(15)));
  poll(nullptr, 0, 500);
  const auto left = deadline - std::chrono::system_clock::now();
  run.first.context().TryCancel();
  EXPECT_EQ(run.second.Read(), "fine");
  EXPECT_TRUE(run.second.Finish().ok());
  // Nanoseconds with 8 digits reach only 99 ms, microseconds all of it. gRPC rounds its deadline
  // up, by less than half of what has been waited.
  ASSERT_FALSE(run.timeout.empty());
  EXPECT_EQ(run.timeout.back(), 'u');
  EXPECT_LT(std::chrono::microseconds(std::stol(run.timeout)),
            left + std::chrono::milliseconds(250));
}

}  // namespace
}  // namespace levee
