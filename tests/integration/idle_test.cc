// SPDX-License-Identifier: Apache-2.0
// Callers' connections that carry nothing: limits.idle_timeout.
#include <string>

#include "gtest/gtest.h"
#include "integration/scripted.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr char kIdleTimeout[] = "limits: {idle_timeout: 200ms}\n";

TEST(IdleTimeout, H17_EndsAConnectionThatCarriesNoCall) {
  Wire wire(
      ForEach([](UpstreamPeer& peer, const RawRequest& request) { peer.Answer(request.stream); }),
      kIdleTimeout);
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  // A call that is on its way at the first GOAWAY is still served.
  for (const uint32_t last_stream : {0x7fffffffU, 1U}) {
    const auto goaway = wire.client.ReadMeaningful();
    ASSERT_TRUE(goaway.has_value());
    EXPECT_EQ(goaway->type, FrameType::kGoaway);
    EXPECT_EQ(ReadNumber(goaway->payload), last_stream);
  }
  EXPECT_FALSE(wire.client.ReadMeaningful().has_value());
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_downstream_connections", {}, 0));
}

TEST(IdleTimeout, H17_PingsKeepNoConnection) {
  Wire wire(ForEach([](UpstreamPeer&, const RawRequest&) {}), kIdleTimeout);
  bool told = false;
  for (bool open = true; open;) {
    wire.client.Write(FrameType::kPing, 0, 0, "12345678");
    const auto frame = wire.client.Read();
    open = frame.has_value();
    told = told || (open && frame->type == FrameType::kGoaway);
  }
  EXPECT_TRUE(told);
}

TEST(IdleTimeout, H17_LeavesACallThatWaitsAlone) {
  Told<bool> idle_one_gone;
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
              idle_one_gone.Next();
              peer.Answer(request.stream);
            }),
            kIdleTimeout);
  RawClient idle(wire.sidecar.address());
  const int32_t call = wire.client.Call();
  EXPECT_EQ(idle.ReadGoaway(), static_cast<uint32_t>(H2Error::kNone));
  idle_one_gone.Tell(true);
  EXPECT_EQ(wire.client.AnswerTo(call).grpc_status(), "0");
}

TEST(IdleTimeout, H17_ClosesATunnelThroughWhichNothingPasses) {
  TcpListener destination;
  SidecarProcess sidecar({.endpoints = {destination.address()}, .more = kIdleTimeout});
  TcpConnection tunnel(sidecar.address());
  ASSERT_TRUE(OpenTunnel(tunnel, destination.address()));
  ASSERT_TRUE(tunnel.Send("not HTTP/2"));
  TcpConnection accepted(destination.Accept());
  EXPECT_EQ(accepted.Read(100), "not HTTP/2");
  EXPECT_EQ(accepted.Read(1), "");
  EXPECT_EQ(tunnel.Read(1), "");
}

}  // namespace
}  // namespace levee
