// SPDX-License-Identifier: Apache-2.0
// The answers of the real binary's admin ports about calls that were really made.
#include <google/protobuf/util/json_util.h>

#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "levee/admin/v1/admin.grpc.pb.h"

namespace levee {
namespace {

using admin::v1::State;
using grpc::StatusCode;
using testing::HasSubstr;

constexpr char kPorts[] = "{address: \"127.0.0.1:0\", grpc_address: \"127.0.0.1:0\"}";

// Asks for the state until it has `calls` retried or refused calls.
State StateWith(const std::string& address, int calls) {
  State state;
  Eventually([&] {
    state.Clear();
    const std::string body = HttpGet(address, "/api/v1/state").body;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(body, &state).ok()) << body;
    return state.calls_size() >= calls;
  });
  EXPECT_EQ(state.calls_size(), calls);
  return state;
}

TEST(Admin, ARetriedCallIsToldWithItsAttemptsAndWhy) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kPorts});
  const std::string admin = sidecar.AwaitAddress("admin");
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());  // Retried once.
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const State state = StateWith(admin, 1);
  const auto& call = state.calls(0);
  EXPECT_EQ(call.upstream(), "shop");
  EXPECT_EQ(call.listener(), "egress");
  EXPECT_EQ(call.method(), "test.Echo/Unary");
  EXPECT_EQ(call.code(), "OK");
  EXPECT_THAT(call.why(), HasSubstr("retried once after UNAVAILABLE"));
  ASSERT_EQ(call.attempts_size(), 2);
  EXPECT_EQ(call.attempts(0).endpoint(), service.address());
  EXPECT_EQ(call.attempts(0).code(), "UNAVAILABLE");
  EXPECT_EQ(call.attempts(1).trigger(), "status");

  ASSERT_EQ(state.upstreams_size(), 1);
  const auto& upstream = state.upstreams(0);
  ASSERT_EQ(upstream.endpoints_size(), 1);
  EXPECT_EQ(upstream.endpoints(0).address(), service.address());
  EXPECT_EQ(upstream.endpoints(0).state(), "ready");
  uint32_t calls = 0, attempts = 0, retries = 0;
  for (const auto& sample : upstream.samples()) {
    calls += sample.calls();
    attempts += sample.attempts();
    retries += sample.retries();
  }
  EXPECT_EQ(calls, 2u);
  EXPECT_EQ(attempts, 3u);
  EXPECT_EQ(retries, 1u);
  EXPECT_EQ(upstream.budget().ratio(), 0.1);
}

TEST(Admin, ARefusedCallSaysWhoRefusedIt) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{budget: {ratio: 0, floor: {per_second: 0}}}",
                          .admin = kPorts});
  const std::string admin = sidecar.AwaitAddress("admin");
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).status.error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
  const State state = StateWith(admin, 1);
  EXPECT_EQ(state.calls(0).refused(), "budget");
  EXPECT_EQ(state.calls(0).code(), "RESOURCE_EXHAUSTED");
  EXPECT_THAT(state.calls(0).why(), HasSubstr("budget used up"));
  EXPECT_NE(state.upstreams(0).severity(), admin::v1::Upstream::SEVERITY_CALM);
}

TEST(Admin, AReloadThatWasRefusedIsShownWithItsFaults) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kPorts});
  const std::string admin = sidecar.AwaitAddress("admin");
  EXPECT_FALSE(StateWith(admin, 0).configuration().last_reload_refused());
  sidecar.RewriteText("no_such_field: 1\n");
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="failure")"}, 1));
  const auto configuration = StateWith(admin, 0).configuration();
  EXPECT_TRUE(configuration.last_reload_refused());
  EXPECT_EQ(configuration.refused_reloads(), 1u);
  ASSERT_EQ(configuration.faults_size(), 1);
  EXPECT_THAT(configuration.faults(0), HasSubstr("no_such_field"));
  // /config shows the configuration that runs.
  EXPECT_THAT(HttpGet(admin, "/config").body,
              AllOf(HasSubstr(service.address()), HasSubstr(configuration.sha256())));
}

TEST(Admin, OverGrpcItDrainsAndTellsTheSame) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = kPorts});
  const auto stub = admin::v1::Admin::NewStub(NewChannel(sidecar.AwaitAddress("admin-grpc")));
  const auto deadline = std::chrono::system_clock::now() + kPatience;
  {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    admin::v1::ConfigText config;
    EXPECT_TRUE(stub->GetConfig(&context, {}, &config).ok());
    EXPECT_THAT(config.text(), HasSubstr(service.address()));
  }
  grpc::ClientContext watching;
  watching.set_deadline(std::chrono::system_clock::now() + kLongerThanAnyTest);
  const auto watch = stub->WatchState(&watching, {});
  State state;
  ASSERT_TRUE(watch->Read(&state));
  EXPECT_EQ(state.sidecar().phase(), admin::v1::Sidecar::PHASE_SERVING);
  {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    admin::v1::DrainResponse drained;
    EXPECT_TRUE(stub->Drain(&context, {}, &drained).ok());
    EXPECT_TRUE(drained.began());
  }
  // Whoever watches does not hold it up.
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

TEST(Admin, ProbeAsksTheSidecar) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const std::string metrics = sidecar.address("metrics");
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"probe", "--address", metrics}).exit, 0);
  const Ended ready = RunToEnd(LEVEE_BINARY, {"probe", "--ready", "--address", metrics});
  EXPECT_EQ(ready.exit, 0);
  EXPECT_EQ(ready.output, "ready\n");
}

}  // namespace
}  // namespace levee
