// SPDX-License-Identifier: Apache-2.0
// Endpoints that come, go, refuse and limit.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

TEST(Connect, TheAuthorityIsDialledWithoutAnyRoute) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {"authority:"}});
  grpc::ChannelArguments arguments;
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, service.address());
  const Reply reply = CallUnary(NewChannel(sidecar.address(), arguments));
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(service.seen().at(0).authority, service.address());
}

TEST(Connect, ANameInTheAuthorityIsLookedUp) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {"authority:"}});
  const Reply reply = CallUnary(NewChannel(sidecar.address()), "x", [&](grpc::ClientContext& c) {
    c.set_authority("localhost:" + std::to_string(service.port()));
  });
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
}

TEST(Connect, A50_DestinationsOfOneUpstreamDoNotPayForEachOther) {
  FaultyService healthy, dead(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {"authority:"}, .retry = "{backoff: {initial: 1ms}}"});
  const auto channel_to = [&](const FaultyService& service) {
    grpc::ChannelArguments arguments;
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, service.address());
    return NewChannel(sidecar.address(), arguments);
  };
  RunLoad({channel_to(healthy)}, {.calls = 500});
  RunLoad({channel_to(dead)}, {.calls = 100});
  EXPECT_LE(dead.calls(), 120);  // Its own tenth, and the floor while it was thought healthy.
}

TEST(Connect, TheOptionToSendsEveryCallThere) {
  FaultyService service;
  const TempFile ports(
      "listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
      "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n");
  const auto sidecar = SidecarProcess::Run({"--config", ports.path(), "--to", service.address()});
  EXPECT_TRUE(CallUnary(NewChannel(sidecar->address())).status.ok());
  EXPECT_EQ(service.calls(), 1);
}

TEST(Connect, AnUpstreamThatRefusesIsUnavailableAndSaysWhy) {
  const ReservedPort refusing;
  SidecarProcess sidecar(
      {.endpoints = {refusing.address()}, .retry = "{max_attempts: 2, exhausted: keep}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("onnection refused"));
  EXPECT_EQ(sidecar.Sum("levee_retries_total", {R"(trigger="connect")"}), 1);
  EXPECT_EQ(sidecar.Sum("levee_endpoints", {R"(state="failing")"}), 1);
}

// How soon is what CallWaitingLine has, on virtual time.
TEST(Connect, TheFirstCallToAWrongPortIsUnavailableAndThePlacesToLookSayWhy) {
  const ReservedPort refusing;
  SidecarProcess sidecar(
      {.endpoints = {refusing.address()}, .more = "access_log: {path: stdout, when: [all]}\n"});
  const Reply reply =
      CallUnary(NewChannel(sidecar.address()), "x", [](grpc::ClientContext& context) {
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::hours(1));
      });
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(),
            "cannot connect to " + refusing.address() + ": connection refused");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"),
            "service;reason=max_attempts;upstream=shop;hops=1");
  const LogLine line(sidecar.process().ReadLine().value_or("{}"));
  EXPECT_EQ(line.Text("message"), reply.status.error_message());
  EXPECT_EQ(line.Text("refused"), "max_attempts");
  EXPECT_EQ(sidecar.Sum("levee_retries_refused_total", {R"(reason="max_attempts")"}), 1);
}

TEST(Connect, AnUpstreamThatStartsLaterIsReached) {
  const ReservedPort reserved;
  SidecarProcess sidecar({.endpoints = {reserved.address()},
                          .retry = "{max_attempts: 1, exhausted: keep}",
                          .upstream = ", reconnect: {initial: 20ms, max: 50ms}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_EQ(CallUnary(channel).status.error_code(), StatusCode::UNAVAILABLE);
  FaultyService service([](const SeenCall&) { return Answer(); }, {.port = reserved.port()});
  EXPECT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 1));
  EXPECT_TRUE(CallUnary(channel).status.ok());
}

TEST(Connect, E7_ACallWaitsForAServiceThatStartsLaterIfItsUpstreamSaysSo) {
  const ReservedPort reserved;
  SidecarProcess sidecar({.endpoints = {reserved.address()},
                          .retry = "{max_attempts: 1}",
                          .upstream = ", connect_wait: 1h",
                          .more = "limits: {waiting_calls: 1}\n"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall call(channel, "/test.Echo/Unary");
  ASSERT_TRUE(call.Start() && call.Write("patient") && call.HalfClose());
  // The second one of two that come on one connection finds no place.
  EXPECT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 1));
  const Reply refused = CallUnary(channel);
  EXPECT_EQ(refused.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("connection refused"));
  EXPECT_EQ(sidecar.Sum("levee_limit_hits_total", {R"(limit="waiting_calls")"}), 1);
  FaultyService service([](const SeenCall&) { return Answer(); }, {.port = reserved.port()});
  EXPECT_EQ(call.Read(), "patient");
  EXPECT_TRUE(call.Finish().ok());
}

TEST(Connect, A61_OneDeadEndpointOfThreeCostsNothing) {
  FaultyService first, second;
  const ReservedPort dead;
  SidecarProcess sidecar({.endpoints = {first.address(), dead.address(), second.address()}});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 300});
  EXPECT_EQ(codes.at(StatusCode::OK), 300);
  EXPECT_EQ(first.calls() + second.calls(), 300);
  EXPECT_GT(first.calls(), 0);  // How many depends on which of the two is quicker.
  EXPECT_GT(second.calls(), 0);
  EXPECT_EQ(sidecar.Sum("levee_retries_total"), 0);
}

TEST(Connect, A7_ARetryPrefersAnotherEndpoint) {
  FaultyService bad(AlwaysFail()), good;
  SidecarProcess sidecar({.endpoints = {bad.address(), good.address()},
                          .retry = "{max_attempts: 2, backoff: {initial: 1ms}, "
                                   "budget: {ratio: 10}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  // Both are connected before it counts.
  CallUnary(channel);
  ASSERT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  const auto codes = RunLoad({channel}, {.calls = 100});
  EXPECT_EQ(codes.at(StatusCode::OK), 100);
  EXPECT_GE(bad.calls(), 5);  // Then it is ejected.
}

TEST(Connect, A59_AnUpstreamThatAllowsOneStreamServesTenCalls) {  // max_streams
  FaultyService service(
      [](const SeenCall&) {
        Answer answer;
        answer.delay = std::chrono::milliseconds(20);
        return answer;
      },
      {.max_streams = 1});
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 40, .at_once = 10});
  EXPECT_EQ(codes.at(StatusCode::OK), 40);
  EXPECT_EQ(service.calls(), 40);
}

TEST(Connect, A60_GracefulGoawaysUnderLoadFailNoCall) {
  FaultyService service([](const SeenCall&) { return Answer(); }, {.max_connection_age_ms = 100});
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 1000, .per_second = 500});
  EXPECT_EQ(codes.at(StatusCode::OK), 1000);
  EXPECT_EQ(service.calls(), 1000);
}

TEST(Connect, ARestartedUpstreamAmongTwoFailsNoCall) {
  // A gRPC server itself cancels a call that comes after it was told to stop and before its GOAWAY
  // has left, so that is retried as well. Ten calls at a time: one endpoint alone would be the
  // dearer choice, however slow the first answer of the other one was.
  const auto script = [](const SeenCall&) {
    return Answer{.delay = std::chrono::milliseconds(100)};
  };
  FaultyService stays(script);
  const ReservedPort reserved;
  const auto start = [&] {
    return std::make_unique<FaultyService>(script, FaultyService::Options{.port = reserved.port()});
  };
  auto leaves = start();
  SidecarProcess sidecar({.endpoints = {stays.address(), leaves->address()},
                          .retry = "{max_attempts: 50, codes: [UNAVAILABLE, CANCELLED], "
                                   "budget: {ratio: 100}}",
                          .upstream = ", reconnect: {initial: 10ms, max: 20ms}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  std::map<StatusCode, int> codes;
  int calls = 0;
  std::atomic<bool> over = false;
  std::thread load([&] {
    for (; !over; calls += 100) {
      for (const auto& [code, count] : RunLoad({channel}, {.calls = 100, .at_once = 10})) {
        codes[code] += count;
      }
    }
  });
  EXPECT_TRUE(leaves->WaitFor([&] { return leaves->calls() > 50; }));
  leaves->ShutDownGracefully();
  leaves = start();
  EXPECT_TRUE(leaves->WaitFor([&] { return leaves->calls() > 5; }));  // It starts slowly.
  over = true;
  load.join();
  EXPECT_EQ(codes[StatusCode::OK], calls);
}

}  // namespace
}  // namespace levee
