// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success, through the binary: row S5 of the contract on storms.
#include <atomic>
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A service that fails all calls for a while, once Fail has been called.
class Outage {
 public:
  explicit Outage(milliseconds length) : length_(length) {}

  void Begin() { begin_ = steady_clock::now().time_since_epoch(); }

  // Fails the calls of the outage, and counts them. Copies of it are one.
  FaultyService::Script script() {
    return [this](const SeenCall& call) {
      const auto begin = begin_.load();
      const auto since = call.at.time_since_epoch() - begin;
      if (begin == steady_clock::duration::zero() || since >= length_) return Answer();
      ++failed_;
      return Fails(StatusCode::UNAVAILABLE);
    };
  }
  int failed() const { return failed_; }

 private:
  const milliseconds length_;
  std::atomic<steady_clock::duration> begin_{};
  std::atomic<int> failed_ = 0;
};

TEST(Waiting, S5_ATotalFailureOf300MsBecomesAnErrorForFewCalls) {
  Outage outage(milliseconds(300));
  FaultyService service(outage.script());
  SidecarProcess sidecar({.endpoints = {service.address()}}, {"--workers", "2"});
  const std::vector<ChannelPtr> channels = {NewChannel(sidecar.address()),
                                            NewChannel(sidecar.address())};
  // The calls of the window pay for what is retried in the outage.
  RunLoad(channels, {.calls = 1200});
  outage.Begin();
  auto codes = RunLoad(channels, {.calls = 600, .per_second = 400});
  EXPECT_GE(outage.failed(), 60);
  EXPECT_LE(600 - codes[StatusCode::OK], 0.05 * outage.failed());
  EXPECT_LE(service.calls() - 1200, 1.25 * 600);
  EXPECT_GE(sidecar.Sum("levee_retries_waited_total", {R"(result="released")"}), 40);
  EXPECT_EQ(sidecar.Sum("levee_retries_waiting"), 0);
}

TEST(Waiting, ARetryThatWaitsIsShownAndEndsWithItsCaller) {
  FaultyService service(AlwaysFail());
  // The last credit is for a wait that is over, so no probe goes while the caller leaves.
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = "{backoff: {initial: 1ms}, budget: {wait: 1m, burst: {least: 1}}}"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Unary");
  ASSERT_TRUE(call.Start() && call.Write("hello") && call.HalfClose());
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waiting", {}, 1));
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waited_total", {R"(result="cancelled")"}, 1));
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waiting", {}, 0));
}

TEST(Waiting, AWaitThatExpiresIsAnsweredAsARefusalByTheBudget) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = "{backoff: {initial: 1ms}, budget: {wait: 200ms, burst: {least: 1}}}"});
  const auto begin = steady_clock::now();
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(200));
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "-1");
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waited_total", {R"(result="expired")"}, 1));
  EXPECT_EQ(sidecar.Sum("levee_retries_refused_total", {R"(reason="budget")"}), 1);
  EXPECT_EQ(service.calls(), 2);
}

}  // namespace
}  // namespace levee
