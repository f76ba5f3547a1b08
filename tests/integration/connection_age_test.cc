// SPDX-License-Identifier: Apache-2.0
// Connections that are replaced when they are old: max_connection_age.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

std::string AgeConfig(const FaultyService& service, const std::string& listener,
                      const std::string& upstream) {
  return absl::StrCat("listeners: [{name: egress, address: \"127.0.0.1:0\"", listener,
                      "}]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
                      "upstreams: [{name: service, endpoints: [\"",
                      service.address(), "\"]", upstream, "}]\nroutes: [{upstream: service}]\n");
}

TEST(ConnectionAge, ACallerIsAskedToComeAgainAndItsCallsEndAsTheyWould) {
  FaultyService service;
  const TempFile config(AgeConfig(service, ", max_connection_age: 200ms", ""));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const ChannelPtr channel = NewChannel(sidecar->address());
  ByteCall stream(channel, "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start());
  RawClient caller(sidecar->address());
  EXPECT_EQ(caller.AnswerTo(caller.Call()).grpc_status(), "0");
  for (const uint32_t last_stream : {0x7fffffffU, 1U}) {
    const auto goaway = caller.ReadMeaningful();
    ASSERT_TRUE(goaway.has_value());
    EXPECT_EQ(goaway->type, FrameType::kGoaway);
    EXPECT_EQ(ReadNumber(goaway->payload), last_stream);
  }
  EXPECT_FALSE(caller.ReadMeaningful().has_value());
  // The connection of the stream has been as old for as long.
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(stream.Write("x"));
  EXPECT_EQ(stream.Read(), "x");
  EXPECT_TRUE(stream.HalfClose());
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(ConnectionAge, AConnectionToAServiceIsReplacedWithoutAFailedCall) {
  FaultyService service;
  const TempFile config(AgeConfig(service, "", ", max_connection_age: 100ms"));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const ChannelPtr channel = NewChannel(sidecar->address());
  ByteCall stream(channel, "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start());
  EXPECT_TRUE(sidecar->WaitForSum("levee_upstream_connections", {}, 2));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(stream.Write("x"));
  EXPECT_EQ(stream.Read(), "x");
  EXPECT_TRUE(stream.HalfClose());
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(sidecar->Sum("levee_retries_total"), 0);
}

}  // namespace
}  // namespace levee
