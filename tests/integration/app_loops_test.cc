// SPDX-License-Identifier: Apache-2.0
// Applications that retry by themselves without saying so, and layers of sidecars, through the
// binary. S10 and S12 are rows of the contract on storms, in a few seconds here.
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::seconds;

std::string TraceParent(int trace, int span) {
  return absl::StrFormat("00-%032x-%016x-01", trace, span);
}

// A client library's loop: three attempts, one right after the other, the trace kept, and no header
// that says that it retries. Returns how the last one ended.
grpc::Status CallInLoop(const ChannelPtr& channel, const std::string& message, int trace) {
  grpc::Status status;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const Reply reply = CallUnary(channel, message, [&](grpc::ClientContext& context) {
      if (trace > 0) context.AddMetadata("traceparent", TraceParent(trace, attempt));
    });
    status = reply.status;
    const StatusCode code = status.error_code();
    if (code != StatusCode::RESOURCE_EXHAUSTED && code != StatusCode::UNAVAILABLE) break;
  }
  return status;
}

constexpr int kLoopClients = 8;
constexpr int kLoopRequests = 30;  // of each client

// All clients at once, each with a connection of its own. All get the agreed answer.
void CallInLoops(const std::string& address, bool traced) {
  std::vector<std::thread> clients;
  for (int client = 0; client < kLoopClients; ++client) {
    clients.emplace_back([channel = ConnectedChannel(address), client, traced] {
      for (int i = 0; i < kLoopRequests; ++i) {
        const int request = client * kLoopRequests + i + 1;
        const grpc::Status status = CallInLoop(
            channel, traced ? "load" : "load " + std::to_string(request), traced ? request : 0);
        EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

void ExpectLoopsBounded(const std::string& workers, bool traced, double ratio = 1.15) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--workers", workers});
  CallInLoops(sidecar.address(), traced);
  constexpr int kAll = kLoopClients * kLoopRequests;
  std::cout << service.calls() << " arrivals of " << kAll << " requests\n";
  EXPECT_LE(service.calls(), ratio * kAll);
  EXPECT_GE(service.calls(), kAll);
  EXPECT_GE(sidecar.Sum("levee_app_retries_total", {R"(seen_by="loop")", R"(action="refused")"}),
            1.7 * kAll);
  EXPECT_EQ(sidecar.Sum("levee_app_retries_total", {R"(seen_by="header")"}), 0);
}

// CallStormLayers has these on virtual time.
TEST(AppLoopsSoak, S12_ALoopOfThreeAttemptsCostsAtMost15PercentInAnOutage) {
  ExpectLoopsBounded("1", /*traced=*/true);
}

TEST(AppLoopsSoak, S12_SoItDoesWithTwoWorkers) { ExpectLoopsBounded("2", /*traced=*/true); }

// The first request of each connection is not known to be in a loop.
TEST(AppLoopsSoak, S12_WithoutATraceMessagesThatDifferTell) {
  ExpectLoopsBounded("1", /*traced=*/false, 1.15 + 2.0 / kLoopRequests);
}

TEST(AppLoopsSoak, S12_NoPollerIsRefused) {
  std::atomic<bool> away = false;
  FaultyService service(
      [&](const SeenCall&) { return away ? Fails(StatusCode::UNAVAILABLE) : Answer(); });
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  // The same message, as fast as it is answered.
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
  away = true;
  RunLoad({channel}, {.calls = 12, .per_second = 3});
  away = false;
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(CallUnary(channel).status.ok()) << i;
  EXPECT_EQ(sidecar.Sum("levee_app_retries_total", {R"(action="refused")"}), 0);
}

TEST(AppLoops, S12_ALoopIsSeenByItsTraceAndRefused) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  int trace = 0;
  EXPECT_TRUE(Eventually([&] {
    CallInLoop(channel, "load", ++trace);
    return sidecar.Sum("levee_app_retries_total", {R"(seen_by="loop")", R"(action="refused")"}) >=
           1;
  }));
  EXPECT_EQ(sidecar.Sum("levee_app_retries_total", {R"(seen_by="header")"}), 0);
}

TEST(AppLoops, S12_TheSameMessageIsNoLoopWhileItIsAnswered) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(sidecar.Sum("levee_app_retries_total"), 0);
}

TEST(AppLoops, IgnoreLeavesThemAlone) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{max_attempts: 1, app_retries_loops: ignore}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int trace = 1; trace <= 20; ++trace) CallInLoop(channel, "load", trace);
  EXPECT_EQ(service.calls(), 60);
  EXPECT_EQ(sidecar.Sum("levee_app_retries_total"), 0);
}

TEST(AppLoops, ACallerThatWaitsForAnAnswerFirstIsServed) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar({.endpoints = {service.address()}, .retry = "{max_attempts: 1}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto traced = [](grpc::ClientContext& context) {
    context.AddMetadata("traceparent", TraceParent(1, 1));
  };
  EXPECT_FALSE(CallUnary(channel, "hello", traced, "/test.Echo/Chat").status.ok());
  ByteCall silent(channel, "/test.Echo/Chat");
  traced(silent.context());
  ASSERT_TRUE(silent.Start());
  EXPECT_TRUE(service.WaitFor([&] { return service.calls() == 2; }));
  EXPECT_TRUE(silent.Write("late"));
  EXPECT_EQ(silent.Read(), "late");
  EXPECT_TRUE(silent.HalfClose());
  EXPECT_TRUE(silent.Finish().ok());
}

// Three sidecars in a row. Arrivals at the bottom, and those that are first attempts of the call at
// the top, in each second of a load.
struct LoopArrivals {
  int all = 0;
  int calls = 0;
};

std::vector<LoopArrivals> ThroughThreeLayers(const FaultyService::Script& script,
                                             const std::string& more) {
  FaultyService service(script);
  const std::string retry = "{max_attempts: 3}";
  SidecarProcess bottom({.endpoints = {service.address()}, .retry = retry, .more = more});
  SidecarProcess middle({.endpoints = {bottom.address()}, .retry = retry, .more = more});
  SidecarProcess top({.endpoints = {middle.address()}, .retry = retry, .more = more});
  const auto begin = std::chrono::steady_clock::now();
  RunLoad({NewChannel(top.address())}, {.calls = 800, .per_second = 200});
  std::vector<LoopArrivals> arrivals(4);
  for (const SeenCall& call : service.seen()) {
    const auto second = static_cast<size_t>((call.at - begin) / seconds(1));
    if (second >= arrivals.size()) continue;
    ++arrivals[second].all;
    if (!call.metadata.contains("grpc-previous-rpc-attempts")) ++arrivals[second].calls;
  }
  return arrivals;
}

void ExpectAtMost(double ratio, const std::vector<LoopArrivals>& arrivals) {
  for (size_t second = 1; second < arrivals.size(); ++second) {
    const auto [all, calls] = arrivals[second];
    std::cout << all << " arrivals of " << calls << " calls\n";
    EXPECT_LE(all, ratio * calls + 1) << "second " << second;
  }
}

constexpr const char* kMarksDropped = "overload: {honor: []}\n";

TEST(LayersSoak, S10_ADeadBottomSeesTenPercentMoreInEverySecondAfterTheFirst) {
  ExpectAtMost(1.1, ThroughThreeLayers(AlwaysFail(), ""));
  ExpectAtMost(1.1, ThroughThreeLayers(AlwaysFail(), kMarksDropped));
}

TEST(LayersSoak, S10_AHalfDeadBottomSeesTenPercentMoreInEachLayerAtMost) {
  const auto half = [](const SeenCall& call) {
    const uint32_t mixed = static_cast<uint32_t>(call.number) * 2654435769u;
    return (mixed >> 31) != 0 ? Fails(StatusCode::UNAVAILABLE) : Answer();
  };
  ExpectAtMost(1.1 * 1.1 * 1.1, ThroughThreeLayers(half, ""));
  ExpectAtMost(1.1 * 1.1 * 1.1, ThroughThreeLayers(half, kMarksDropped));
}

}  // namespace
}  // namespace levee
