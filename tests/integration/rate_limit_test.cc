// SPDX-License-Identifier: Apache-2.0
// Rate limits as callers and dashboards see them.
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::steady_clock;

std::string Limit(const std::string& fields) { return ", rate_limit: [{" + fields + "}]"; }

TEST(RateLimit, A76_ACallOverTheRateIsRefusedWithThePushbackAndNeverRetried) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{codes: [UNAVAILABLE, RESOURCE_EXHAUSTED]}",
                          .policy = Limit("name: slow, rate: 1/h, burst: 2")});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const Reply reply = CallUnary(channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reply.status.error_message(), "rate limit \"slow\" of policy \"test\" reached");
  const int pushback_ms = std::stoi(Values(reply.trailers, "grpc-retry-pushback-ms"));
  EXPECT_GT(pushback_ms, 3'500'000);
  EXPECT_LE(pushback_ms, 3'600'000);
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "");
  EXPECT_EQ(service.calls(), 2);
  const std::string series = R"(levee_rate_limit_decisions_total{policy="test",limit="slow",)";
  EXPECT_TRUE(sidecar.WaitForSum("levee_rate_limit_decisions_total", {R"(="rejected")"}, 1));
  EXPECT_EQ(sidecar.Metric(series + R"(decision="admitted"})"), 2);
  EXPECT_EQ(sidecar.Metric(series + R"(decision="delayed"})"), 0);
  EXPECT_EQ(sidecar.Sum("levee_retries_total"), 0);
  EXPECT_EQ(sidecar.Sum("levee_attempts_total"), 2);
}

TEST(RateLimit, A75_ACallMayWaitForItsTurn) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .policy = Limit("name: paced, rate: 10/s, max_wait: 10m")});
  const auto start = steady_clock::now();
  const auto codes = RunLoad({NewChannel(sidecar.address())}, {.calls = 6, .at_once = 6});
  EXPECT_EQ(codes.at(StatusCode::OK), 6);
  // The first goes at once, the others a tenth of a second apart.
  EXPECT_GE(steady_clock::now() - start, std::chrono::milliseconds(500));
}

TEST(RateLimit, A75_ACallThatWaitsForItsTurnIsCountedAndEndsWithItsCaller) {
  FaultyService service;
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .policy = Limit("name: slow, rate: 1/h, max_wait: 2h")});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  ByteCall call(channel, "/test.Echo/Unary");
  // No deadline comes before its turn.
  call.context().set_deadline(std::chrono::system_clock::time_point::max());
  ASSERT_TRUE(call.Start() && call.Write("x") && call.HalfClose());
  EXPECT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, 1));
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(sidecar.WaitForSum("levee_rate_limit_decisions_total", {R"(="delayed")"}, 1));
  EXPECT_EQ(service.calls(), 1);
}

TEST(RateLimit, EachKeyHasABucketOfItsOwn) {
  FaultyService service;
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .policy = Limit("name: tenants, rate: 1/h, key: [method, \"header:X-Tenant\"]")});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto call = [&](const std::string& tenant, const std::string& method) {
    return CallUnary(
               channel, "x",
               [&](grpc::ClientContext& context) { context.AddMetadata("x-tenant", tenant); },
               method)
        .status.error_code();
  };
  EXPECT_EQ(call("a", "/test.Echo/Unary"), StatusCode::OK);
  EXPECT_EQ(call("b", "/test.Echo/Unary"), StatusCode::OK);
  EXPECT_EQ(call("a", "/test.Echo/Collect"), StatusCode::OK);
  EXPECT_EQ(call("a", "/test.Echo/Unary"), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(call("b", "/test.Echo/Unary"), StatusCode::RESOURCE_EXHAUSTED);
}

TEST(RateLimit, A77_KeysBeyondTheTableShareABucketAndAreCounted) {
  FaultyService service;
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .policy = Limit("name: few, rate: 1/h, key: [\"header:x-tenant\"], max_keys: 2")});
  const ChannelPtr channel = NewChannel(sidecar.address());
  int ok = 0;
  for (const char* tenant : {"a", "b", "c", "d", "e", "a"}) {
    ok += CallUnary(channel, "x", [&](grpc::ClientContext& context) {
            context.AddMetadata("x-tenant", tenant);
          }).status.ok();
  }
  // a, b, and one for all the others.
  EXPECT_EQ(ok, 3);
  EXPECT_TRUE(sidecar.WaitForSum("levee_limit_hits_total", {R"(limit="max_keys")"}, 3));
}

TEST(RateLimit, A74_WorkersShareTheRate) {
  FaultyService service;
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .policy = Limit("name: all, rate: 1/h, burst: 100")},
      {"--workers", "2"});
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < 4; ++i) channels.push_back(NewChannel(sidecar.address()));
  // Within an hour the burst is all that there is.
  EXPECT_EQ(RunLoad(channels, {.calls = 400, .at_once = 8}).at(StatusCode::OK), 100);
}

TEST(RateLimit, ARefusedCallIsNoCallForTheBudget) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{budget: {ratio: 1, floor: {per_second: 0}}}",
                          .policy = Limit("name: slow, rate: 1/h, burst: 3")});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 20; ++i) CallUnary(channel);
  EXPECT_LE(service.calls(), 6);
  EXPECT_EQ(sidecar.Metric(R"(levee_retry_budget_limit{upstream="shop"})"), 3);
}

}  // namespace
}  // namespace levee
