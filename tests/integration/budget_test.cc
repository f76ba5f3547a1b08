// SPDX-License-Identifier: Apache-2.0
// The promise: retries never become the outage.
#include <atomic>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/raw_upstream.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

// Quick retries, so that the budget is all that holds them back.
constexpr const char* kEagerBackoff = "{backoff: {initial: 1ms, max: 2ms}, budget: {window: 1s}}";

// Fails every second call, without a pattern that follows the retries.
FaultyService::Script FailHalf() {
  return [](const SeenCall& call) {
    const uint32_t mixed = static_cast<uint32_t>(call.number) * 2654435769u;
    return (mixed >> 31) != 0 ? Fails(StatusCode::UNAVAILABLE) : Answer();
  };
}

struct Storm {
  const char* name;
  FaultyService::Script script;
  Load load;
};

void ExpectBounded(const Storm& storm) {
  FaultyService service(storm.script);
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = kEagerBackoff});
  RunLoad({NewChannel(sidecar.address())}, storm.load);
  // Retries are whole: one more than the share may have begun.
  EXPECT_LE(service.calls(), 1.11 * storm.load.calls + 1) << storm.name;
  EXPECT_GE(service.calls(), storm.load.calls) << storm.name;
}

// CallStormOutage and CallStormBrownout have it on virtual time.
TEST(BudgetSoak, A41_BoundsAttemptsAtEveryRateOfFailingCalls) {
  const Storm storms[] = {
      {"dead at 100/s", AlwaysFail(), {.calls = 500, .per_second = 100}},
      {"dead at 30/s", AlwaysFail(), {.calls = 150, .per_second = 30}},
      {"dead at 10/s", AlwaysFail(), {.calls = 60, .per_second = 10}},
      {"half failing at 100/s", FailHalf(), {.calls = 500, .per_second = 100}},
      {"half failing at 30/s", FailHalf(), {.calls = 150, .per_second = 30}},
  };
  // Most of it is waiting, so they run side by side.
  std::vector<std::thread> threads;
  for (const Storm& storm : storms) threads.emplace_back([&storm] { ExpectBounded(storm); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Budget, A41_BoundsABurstWithTheDefaultWindow) {
  FaultyService service(AlwaysFail());
  // Without a wait all of the credit is spent, so that the failed retries withhold the floor.
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{backoff: {initial: 1ms}, budget: {wait: none}}"});
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 1000, .at_once = 64});
  EXPECT_LE(service.calls(), 1110);
  EXPECT_GT(codes.at(StatusCode::RESOURCE_EXHAUSTED), 800);
  EXPECT_TRUE(sidecar.WaitForSum("levee_attempts_total", {}, service.calls()));
  EXPECT_EQ(sidecar.Sum("levee_retry_budget_floor_withheld"), 1);
}

TEST(Budget, A41_RescuesAllWhenFewCallsFail) {
  FaultyService service([](const SeenCall& call) {
    return call.number % 20 == 0 ? Fails(StatusCode::UNAVAILABLE) : Answer();
  });
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{backoff: {initial: 1ms}}"});
  // One by one, so that no retry is a twentieth attempt itself.
  auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 1000, .at_once = 1});
  EXPECT_EQ(codes[StatusCode::OK], 1000);
}

TEST(Budget, A48_IsSharedByTheWorkers) {
  FaultyService service(AlwaysFail());
  // The floor is of no account, so that the time that it takes is of none.
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{backoff: {initial: 1ms}, budget: {wait: none, window: 1h, "
                                   "floor: {per_second: 0}}}"},
                         {"--workers", "2"});
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < 4; ++i) channels.push_back(NewChannel(sidecar.address()));
  RunLoad(channels, {.calls = 500});
  EXPECT_LE(service.calls(), 1.1 * 500);
  EXPECT_GE(service.calls(), 500);
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {}, 500));
}

TEST(Budget, A49_OutlivesTheConnectionsOfItsUpstream) {
  std::atomic<int> requests = 0;
  // Fails one request on each connection, and asks for another connection.
  RawUpstream upstream([&](UpstreamPeer& peer) {
    peer.Handshake();
    const auto request = peer.NextRequest();
    if (!request.has_value()) return;
    ++requests;
    peer.AnswerTrailersOnly(request->stream, 14);
    peer.WriteGoaway(request->stream);
  });
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .retry = "{backoff: {initial: 1ms, max: 1ms}, budget: {ratio: 0, window: "
                                   "1h, floor: {per_second: 0.001, min_success: 0}}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 30; ++i) CallUnary(channel);
  // The floor of an hour is 3.6, for all connections together. A call that meets the GOAWAY before
  // it is processed is sent again for nothing.
  EXPECT_TRUE(Eventually([&] {
    return sidecar.Sum("levee_retries_total") - sidecar.Sum("levee_transparent_retries_total") == 3;
  }));
  EXPECT_LE(requests, 30 + 3);
  EXPECT_GE(upstream.connections(), 10);
}

TEST(Workers, CarryCallsOfSeveralConnections) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--workers", "2"});
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < 5; ++i) channels.push_back(NewChannel(sidecar.address()));
  const auto codes = RunLoad(channels, {.calls = 1000, .at_once = 40});
  EXPECT_EQ(codes.at(StatusCode::OK), 1000);
  EXPECT_EQ(service.calls(), 1000);
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {R"(code="OK")"}, 1000));
  EXPECT_EQ(sidecar.Sum("levee_downstream_connections"), 5);
}

// An application that retries by itself, as gRPC lets it be configured.
ChannelPtr ChannelThatRetries(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetServiceConfigJSON(
      R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 5,
          "initialBackoff": "0.001s", "maxBackoff": "0.002s", "backoffMultiplier": 1,
          "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]})");
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

TEST(Budget, A66_BoundsTheApplicationsOwnRetries) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{max_attempts: 1, exhausted: keep}"});
  RunLoad({ChannelThatRetries(sidecar.address())}, {.calls = 500});
  EXPECT_LE(service.calls(), 1.11 * 500);
  EXPECT_GT(sidecar.Sum("levee_app_retries_total", {R"(action="refused")"}), 300);
}

// Three layers, each behind the one above it.
int AttemptsAtTheBottomOf(const std::string& more) {
  FaultyService service(AlwaysFail());
  const std::string retry = "{max_attempts: 3, backoff: {initial: 1ms}}";
  SidecarProcess bottom({.endpoints = {service.address()}, .retry = retry, .more = more});
  SidecarProcess middle({.endpoints = {bottom.address()}, .retry = retry, .more = more});
  SidecarProcess top({.endpoints = {middle.address()}, .retry = retry, .more = more});
  RunLoad({NewChannel(top.address())}, {.calls = 1000, .at_once = 32});
  EXPECT_GE(service.calls(), 1000);
  return service.calls();
}

// Floors count only until the first failures are known: at most ten in each layer.
constexpr int kThreeLayerBound = 1331 + 10 + 11 + 13;

TEST(Layers, A64_WithTheMarkStayBelowTheBound) {
  EXPECT_LE(AttemptsAtTheBottomOf(""), kThreeLayerBound);
}

TEST(Layers, A64_WithoutTheMarkStayBelowTheBound) {
  EXPECT_LE(AttemptsAtTheBottomOf("overload: {honor: []}\n"), kThreeLayerBound);
}

}  // namespace
}  // namespace levee
