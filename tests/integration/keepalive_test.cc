// SPDX-License-Identifier: Apache-2.0
// PINGs toward upstreams.
#include <chrono>
#include <future>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

ConfigParts Pinging(const RawUpstream& upstream, const std::string& keepalive) {
  return {.endpoints = {upstream.address()},
          .retry = "{max_attempts: 1, exhausted: keep}",
          .upstream = ", keepalive: {" + keepalive + "}"};
}

bool IsPing(const Frame& frame) {
  return frame.type == FrameType::kPing && (frame.flags & kAck) == 0;
}

// Reads until a PING of the sidecar's own comes; false if the connection ends first.
bool ReadPing(UpstreamPeer& peer) {
  while (const auto frame = peer.Read()) {
    if (IsPing(*frame)) return true;
  }
  return false;
}

TEST(Keepalive, AQuietConnectionWithACallIsPingedAndLives) {
  RawUpstream upstream([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    const auto request = peer.NextRequest();
    for (int i = 0; i < 3; ++i) {
      if (!ReadPing(peer)) return;
    }
    peer.Answer(request->stream);
    peer.ReadToEnd();
  });
  SidecarProcess sidecar(Pinging(upstream, "interval: 30ms, timeout: 10s"));
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).body, "fine");
}

TEST(Keepalive, AConnectionThatAnswersNoPingIsClosed) {
  std::promise<void> over;
  RawUpstream upstream([ended = over.get_future().share()](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    peer.NextRequest();
    ended.wait();  // Reads nothing more.
  });
  SidecarProcess sidecar(Pinging(upstream, "interval: 30ms, timeout: 100ms"));
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "the connection to the upstream was lost");
  over.set_value();
}

TEST(Keepalive, AConnectionWithoutCallsIsLeftAlone) {
  std::promise<void> pinged;
  RawUpstream upstream([&](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    peer.Answer(peer.NextRequest()->stream);
    // PINGs that come before the sidecar has read this far may still be for the call.
    peer.ReadSettled(0);
    if (ReadPing(peer)) pinged.set_value();
    peer.ReadToEnd();
  });
  SidecarProcess sidecar(Pinging(upstream, "interval: 20ms, timeout: 10s"));
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).body, "fine");
  EXPECT_EQ(pinged.get_future().wait_for(milliseconds(300)), std::future_status::timeout);
}

TEST(Keepalive, TooManyPingsDoublesTheInterval) {
  Clock::time_point pinged[2];
  RawUpstream upstream([&](UpstreamPeer& peer) {
    if (!peer.Handshake() || peer.number() > 2) return peer.AnswerRest();
    const auto request = peer.NextRequest();
    if (!ReadPing(peer)) return;
    pinged[peer.number() - 1] = Clock::now();
    // GOAWAY: the last stream, ENHANCE_YOUR_CALM, and why.
    const std::string last = {0, 0, 0, static_cast<char>(request->stream)};
    peer.Write(FrameType::kGoaway, 0, 0, last + std::string("\0\0\0\x0b", 4) + "too_many_pings");
    peer.Answer(request->stream);
    peer.ReadToEnd();
  });
  SidecarProcess sidecar(Pinging(upstream, "interval: 200ms, timeout: 10s"));
  const ChannelPtr channel = NewChannel(sidecar.address());
  // From before the call to the PING it can only be longer than the interval.
  for (const int interval_ms : {200, 400}) {
    const auto called = Clock::now();
    EXPECT_EQ(CallUnary(channel).body, "fine");
    EXPECT_GE(pinged[interval_ms / 200 - 1] - called, milliseconds(interval_ms));
  }
}

TEST(Keepalive, ItIsOffUnlessItIsConfigured) {
  std::atomic<int> pings = 0;
  RawUpstream upstream([&](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    peer.NextRequest();
    while (ReadPing(peer)) ++pings;
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()}});
  CallUnary(NewChannel(sidecar.address()), "x", [](grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + milliseconds(300));
  });
  EXPECT_EQ(pings, 0);
}

}  // namespace
}  // namespace levee
