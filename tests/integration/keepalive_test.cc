// SPDX-License-Identifier: Apache-2.0
// PINGs toward upstreams.
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"
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

// Answers a call after so many PINGs: at least as many intervals have passed by then.
RawUpstream::Script AnswersAfterPings(int pings) {
  return [pings](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    const auto request = peer.NextRequest();
    for (int i = 0; i < pings; ++i) {
      if (!ReadPing(peer)) return;
    }
    if (request.has_value()) peer.Answer(request->stream);
    peer.ReadToEnd();
  };
}

// Takes two calls, of which the first is answered at once or with the second, and tells how many
// PINGs came between them.
RawUpstream::Script CountsPingsBetween(Told<int>& told, bool at_once) {
  return [&told, at_once](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    const auto first = peer.NextRequest();
    if (!first.has_value()) return;
    if (at_once) {
      peer.Answer(first->stream);
      // PINGs that come before the sidecar has read this far may still be for the call.
      peer.ReadSettled(0);
    }
    int pings = 0;
    std::optional<Frame> frame = peer.Read();
    for (; frame.has_value() && frame->type != FrameType::kHeaders; frame = peer.Read()) {
      pings += IsPing(*frame);
    }
    if (!frame.has_value()) return;
    told.Tell(pings);
    if (!at_once) peer.Answer(first->stream);
    peer.Answer(frame->stream);
    peer.ReadToEnd();
  };
}

constexpr char kAtOther[] = "/test.Other/Unary";

// Calls to kAtOther go to another upstream, which is always pinged every 20 ms.
ConfigParts WithOther(const RawUpstream& upstream, const std::string& more,
                      const RawUpstream& other) {
  return {.endpoints = {upstream.address()},
          .retry = kNoRetry,
          .route = "match: {method: \"/test.Other/*\"}, upstream: other, policy: test}, {",
          .upstream = more + "}, {name: other, endpoints: [\"" + other.address() +
                      "\"], keepalive: {interval: 20ms, timeout: 10m}"};
}

TEST(Keepalive, AQuietConnectionWithACallIsPingedAndLives) {
  RawUpstream upstream(AnswersAfterPings(3));
  SidecarProcess sidecar(Pinging(upstream, "interval: 30ms, timeout: 10m"));
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).body, "fine");
}

TEST(Keepalive, AConnectionThatAnswersNoPingIsClosed) {
  Told<bool> over;
  RawUpstream upstream([&over](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.NextRequest().has_value()) over.Next();  // Reads nothing more.
  });
  SidecarProcess sidecar(Pinging(upstream, "interval: 30ms, timeout: 100ms"));
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "the connection to the upstream was lost");
  over.Tell(true);
}

TEST(Keepalive, AConnectionWithoutCallsIsLeftAlone) {
  Told<int> pings;
  RawUpstream quiet(CountsPingsBetween(pings, /*at_once=*/true)), other(AnswersAfterPings(10));
  SidecarProcess sidecar(WithOther(quiet, ", keepalive: {interval: 20ms, timeout: 10m}", other));
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_EQ(CallUnary(channel).body, "fine");
  EXPECT_EQ(CallUnary(channel, "x", nullptr, kAtOther).body, "fine");
  EXPECT_EQ(CallUnary(channel).body, "fine");
  EXPECT_EQ(pings.Next(), 0);
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
  SidecarProcess sidecar(Pinging(upstream, "interval: 50ms, timeout: 10m"));
  const ChannelPtr channel = NewChannel(sidecar.address());
  // From before the call to the PING it can only be longer than the interval.
  for (const int interval_ms : {50, 100}) {
    const auto called = Clock::now();
    EXPECT_EQ(CallUnary(channel).body, "fine");
    EXPECT_GE(pinged[interval_ms / 50 - 1] - called, milliseconds(interval_ms));
  }
}

TEST(Keepalive, ItIsOffUnlessItIsConfigured) {
  Told<int> pings;
  RawUpstream upstream(CountsPingsBetween(pings, /*at_once=*/false)), other(AnswersAfterPings(10));
  SidecarProcess sidecar(WithOther(upstream, "", other));
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall call(channel, "/test.Echo/Unary");
  ASSERT_TRUE(call.Start() && call.Write("x") && call.HalfClose());
  EXPECT_EQ(CallUnary(channel, "x", nullptr, kAtOther).body, "fine");
  EXPECT_EQ(CallUnary(channel).body, "fine");
  EXPECT_EQ(call.Read(), "fine");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(pings.Next(), 0);
}

}  // namespace
}  // namespace levee
