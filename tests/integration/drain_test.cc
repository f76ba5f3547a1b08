// SPDX-License-Identifier: Apache-2.0
// SIGTERM: nothing that was accepted is lost.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using Clock = std::chrono::steady_clock;
using grpc::StatusCode;
using std::chrono::milliseconds;

class Drain : public testing::Test {
 protected:
  bool WaitForReadyz(int status) {
    return Eventually([&] { return sidecar_.HttpStatus("/readyz") == status; });
  }

  FaultyService service_;
  SidecarProcess sidecar_{ConfigParts{.endpoints = {service_.address()}}};
  ChannelPtr channel_ = NewChannel(sidecar_.address());
};

using DrainSoak = Drain;

TEST_F(Drain, ACallInFlightIsFinishedAndNewOnesAreStillTaken) {
  EXPECT_EQ(sidecar_.HttpStatus("/healthz"), 200);
  EXPECT_TRUE(WaitForReadyz(200));
  ByteCall call(channel_, "/test.Echo/Collect");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 1; }));

  sidecar_.process().Signal(SIGTERM);
  ASSERT_TRUE(WaitForReadyz(503));
  EXPECT_EQ(sidecar_.HttpStatus("/healthz"), 200);
  EXPECT_TRUE(CallUnary(NewChannel(sidecar_.address())).status.ok());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), "before");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST(DrainStream, KeepsNobodyFromBeingToldToGoElsewhereAndGoesOn) {
  FaultyService service;
  // So it is not the timeout that they are told for.
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 1h}\n"});
  RawClient other(sidecar.address());
  ByteCall stream(NewChannel(sidecar.address()), "/test.Echo/Chat");
  ASSERT_TRUE(stream.Start());
  for (const char* const message : {"one", "two"}) {
    ASSERT_TRUE(stream.Write(message));
    EXPECT_EQ(stream.Read(), message);
  }
  sidecar.process().Signal(SIGTERM);
  bool told = false;
  while (const auto frame = told ? std::nullopt : other.ReadMeaningful()) {
    told = frame->type == FrameType::kGoaway;
  }
  EXPECT_TRUE(told);
  ASSERT_TRUE(stream.Write("three"));
  EXPECT_EQ(stream.Read(), "three");
  ASSERT_TRUE(stream.HalfClose());
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

// As a preStop hook may ask for it.
TEST(DrainByHttp, ADrainThatWasAskedForGoesOnWhenTheSignalFollows) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .admin = "{address: \"127.0.0.1:0\"}"});
  const std::string admin = sidecar.AwaitAddress("admin");
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Collect");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  EXPECT_EQ(HttpAsk("POST", admin, "/drain").status, 202);
  EXPECT_EQ(HttpAsk("POST", admin, "/drain").status, 200);
  sidecar.process().Signal(SIGTERM);
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), "before");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

TEST_F(Drain, ACallInBackoffOrInFlightEndsAtOnceWithTheSecondSignal) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  EXPECT_EQ(call.Read(), "before");
  sidecar_.process().Signal(SIGTERM);
  ASSERT_TRUE(WaitForReadyz(503));
  sidecar_.process().Signal(SIGTERM);
  EXPECT_EQ(call.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST_F(Drain, AnIdleSidecarAnnouncesItsEndInTwoSteps) {
  RawClient client(sidecar_.address());
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  sidecar_.process().Signal(SIGTERM);
  std::vector<uint32_t> last_streams;
  while (const auto frame = client.ReadMeaningful()) {
    if (frame->type == FrameType::kGoaway) last_streams.push_back(ReadNumber(frame->payload));
  }
  EXPECT_THAT(last_streams, testing::ElementsAre(0x7fffffffu, 1u));
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST_F(Drain, AnInterruptDrainsAsWell) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  EXPECT_EQ(call.Read(), "before");
  sidecar_.process().Signal(SIGINT);
  ASSERT_TRUE(WaitForReadyz(503));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST_F(Drain, AStreamThatEndsWithinTheTimeoutIsComplete) {
  ByteCall call(channel_, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("200 65536"));
  ASSERT_TRUE(call.HalfClose());
  ASSERT_TRUE(call.Read().has_value());
  sidecar_.process().Signal(SIGTERM);
  ASSERT_TRUE(WaitForReadyz(503));
  int messages = 1;
  while (call.Read().has_value()) ++messages;
  EXPECT_EQ(messages, 200);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

// What is quiet for a second on a busy machine has not stopped. DrainTest has it on virtual time.
TEST_F(DrainSoak, ClientsThatCallAndReconnectSeeNoFailureBeforeTheyStop) {
  constexpr int kClients = 4, kCalls = 150, kCallsPerChannel = 10;
  std::atomic<int> failed = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back([&] {
      ChannelPtr channel;
      for (int i = 0; i < kCalls; ++i) {
        if (i % kCallsPerChannel == 0) channel = NewChannel(sidecar_.address());
        if (!CallUnary(channel).status.ok()) ++failed;
      }
    });
  }
  EXPECT_TRUE(service_.WaitFor([&] { return service_.calls() > 50; }));
  sidecar_.process().Signal(SIGTERM);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(service_.calls(), kClients * kCalls);
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

// DrainTest has it on virtual time.
TEST_F(DrainSoak, CallsThatAreShortAndFarBetweenKeepTheSidecarUp) {
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  sidecar_.process().Signal(SIGTERM);
  // For half a second longer than a sidecar without calls has.
  const auto codes = RunLoad({channel_}, {.calls = 51, .per_second = 30});
  EXPECT_EQ(codes.at(StatusCode::OK), 51);
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST(DrainRetry, OneInBackoffAtTheSignalStillRuns) {
  FaultyService service(FailFirst(1));
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{backoff: {constant: 200ms}}"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Unary");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("body"));
  ASSERT_TRUE(call.HalfClose());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(call.Read(), "body");
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(service.calls(), 2);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

TEST(DrainRetry, OneThatDoesNotFitIsNotMade) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{backoff: {constant: 10m}}",
                          .more = "drain: {timeout: 200ms}\n"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Unary");
  call.context().set_deadline(std::chrono::system_clock::time_point::max());
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(call.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  EXPECT_EQ(service.calls(), 1);
}

TEST(DrainTimeout, ComesBeforeAnyCallFails) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 400ms}\n"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const auto signalled = Clock::now();
  sidecar.process().Signal(SIGTERM);
  while (CallUnary(channel).status.ok()) continue;
  EXPECT_GE(Clock::now() - signalled, milliseconds(400));
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

// A sidecar with a listener for calls to the application and one for its own calls.
class DrainInbound : public testing::Test {
 protected:
  FaultyService service_;
  const TempFile config_{
      "listeners: [{name: egress, address: \"127.0.0.1:0\"},\n"
      "  {name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
      "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: \"127.0.0.1:0\"}\n"
      "upstreams: [{name: app, endpoints: [\"" +
      service_.address() +
      "\"]}]\nroutes: [{match: {listener: ingress}, upstream: app, policy: protect},\n"
      "  {upstream: app}]\npolicies: [{name: default}, {name: protect, guard: {}}]\n"};
  const std::unique_ptr<SidecarProcess> sidecar_ =
      SidecarProcess::Run({"--config", config_.path()});
};

TEST_F(DrainInbound, W10_CallersAreToldToGoAtItsBeginAndAreServedAllTheSame) {
  RawClient before(sidecar_->address("ingress"));
  EXPECT_EQ(before.AnswerTo(before.Call()).grpc_status(), "0");
  const ChannelPtr own = NewChannel(sidecar_->address("egress"));
  EXPECT_TRUE(CallUnary(own).status.ok());

  const std::string admin = sidecar_->AwaitAddress("admin");
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"drain", "--address", admin}).exit, 0);
  EXPECT_TRUE(IsToldToGo(before));
  RawClient after(sidecar_->address("ingress"));
  EXPECT_TRUE(IsToldToGo(after));
  EXPECT_EQ(after.AnswerTo(after.Call()).grpc_status(), "0");
  EXPECT_EQ(sidecar_->HttpStatus("/readyz"), 503);
  // The application's own calls go on as before.
  EXPECT_TRUE(CallUnary(own).status.ok());

  sidecar_->process().Signal(SIGTERM);
  EXPECT_EQ(sidecar_->process().WaitForExit(), 0);
}

TEST_F(DrainInbound, W10_ASignalTellsThemTooBeforeTheQuietSecondIsOver) {
  RawClient caller(sidecar_->address("ingress"));
  EXPECT_EQ(caller.AnswerTo(caller.Call()).grpc_status(), "0");
  ByteCall own(NewChannel(sidecar_->address("egress")), "/test.Echo/Collect");
  ASSERT_TRUE(own.Start() && own.Write("before"));
  ASSERT_TRUE(service_.WaitFor([&] { return service_.calls() == 2; }));
  sidecar_->process().Signal(SIGTERM);
  // The application's call is still under way.
  EXPECT_TRUE(IsToldToGo(caller));
  ASSERT_TRUE(own.HalfClose());
  EXPECT_EQ(own.Read(), "before");
  EXPECT_TRUE(own.Finish().ok());
  EXPECT_EQ(sidecar_->process().WaitForExit(), 0);
}

TEST(DrainEnd, RemovesTheUnixSocket) {
  const std::string path = testing::TempDir() + "levee-drain-" + std::to_string(getpid());
  const TempFile config("listeners: [{name: egress, address: \"unix:" + path +
                        "\"}]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n");
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  sidecar->process().Signal(SIGTERM);
  EXPECT_EQ(sidecar->process().WaitForExit(), 0);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(DrainTimeout, EndsWhatIsStillInFlightAsUnavailable) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 300ms}\n"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(call.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  EXPECT_TRUE(service.WaitFor([&] { return service.cancelled() == 1; }));
}

TEST(DrainTimeout, WorksWithTwoWorkers) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 300ms}\n"},
                         {"--workers", "2"});
  ByteCall first(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ByteCall second(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ASSERT_TRUE(first.Start());
  ASSERT_TRUE(second.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 2; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(first.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(second.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

}  // namespace
}  // namespace levee
