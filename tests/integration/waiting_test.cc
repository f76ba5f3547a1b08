// SPDX-License-Identifier: Apache-2.0
// Retries that wait for a success, through the binary: row S5 of the contract on storms.
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

// A service that fails all calls for a while, once Fail has been called.
class TimedOutage {
 public:
  explicit TimedOutage(milliseconds length) : length_(length) {}

  void Begin() { begin_ = steady_clock::now().time_since_epoch(); }

  // Fails the attempts of the outage, and counts the first ones. Copies of it are one.
  FaultyService::Script script() {
    return [this](const SeenCall& call) {
      const auto begin = begin_.load();
      const auto since = call.at.time_since_epoch() - begin;
      if (begin == steady_clock::duration::zero() || since >= length_) return Answer();
      if (!call.metadata.contains("grpc-previous-rpc-attempts")) ++first_failed_;
      return Fails(StatusCode::UNAVAILABLE);
    };
  }
  int first_failed() const { return first_failed_; }

 private:
  const milliseconds length_;
  std::atomic<steady_clock::duration> begin_{};
  std::atomic<int> first_failed_ = 0;
};

// Calls with a deadline of 5 s, `per_second` of them from each sidecar, before a service that fails
// all of them for a while. Counts from the beginning of that while.
struct ShortOutage {
  milliseconds length;
  int sidecars = 1;
  double per_second = 200;
  double rescued = 0.95;  // of the calls whose first attempt fails
};

void ExpectOutageRescued(const ShortOutage& it) {
  constexpr int kSeconds = 5;
  TimedOutage outage(it.length);
  FaultyService service(outage.script());
  std::vector<std::unique_ptr<SidecarProcess>> fleet;
  std::vector<ChannelPtr> channels;
  for (int i = 0; i < it.sidecars; ++i) {
    fleet.push_back(std::make_unique<SidecarProcess>(ConfigParts{.endpoints = {service.address()}},
                                                     std::vector<std::string>{"--workers", "2"}));
    channels.push_back(NewChannel(fleet.back()->address()));
    channels.push_back(NewChannel(fleet.back()->address()));
  }
  const double per_second = it.sidecars * it.per_second;
  // The calls of a whole window pay for what is retried in the outage.
  RunLoad(channels, {.calls = static_cast<int>(10 * per_second), .at_once = 4});
  const int before = service.calls();
  const int calls = static_cast<int>(kSeconds * per_second);
  outage.Begin();
  auto codes = RunLoad(channels, {.calls = calls, .per_second = per_second, .deadline = 5s});
  const int lost = calls - codes[StatusCode::OK];
  std::cout << it.length / 1ms << " ms: " << outage.first_failed() << " first attempts failed, "
            << lost << " calls lost, " << service.calls() - before << " attempts of " << calls
            << " calls\n";
  EXPECT_GE(outage.first_failed(),
            0.3 * per_second * std::chrono::duration<double>(it.length).count());
  EXPECT_LE(lost, (1 - it.rescued) * outage.first_failed());
  EXPECT_LE(service.calls() - before, 1.25 * calls);
  for (const auto& sidecar : fleet) EXPECT_EQ(sidecar->Sum("levee_retries_waiting"), 0);
}

// CallStormMoment has it on virtual time.
TEST(WaitingSoak, S5_ATotalFailureOf100MsBecomesAnErrorForFewCalls) {
  ExpectOutageRescued({.length = 100ms});
}

TEST(WaitingSoak, S5_ATotalFailureOf300MsBecomesAnErrorForFewCalls) {
  ExpectOutageRescued({.length = 300ms});
}

TEST(WaitingSoak, S5_ATotalFailureOf1SecondBecomesAnErrorForFewCalls) {
  ExpectOutageRescued({.length = 1s});
}

TEST(WaitingSoak, S5_SoItDoesForAFleetOfQuietSidecars) {
  ExpectOutageRescued({.length = 300ms, .sidecars = 8, .per_second = 1.3, .rescued = 0.85});
}

TEST(Waiting, S5_SuccessesRescueTheCallThatWaitsForThem) {
  std::atomic<bool> away = true;
  FaultyService service(
      [&](const SeenCall&) { return away ? Fails(StatusCode::UNAVAILABLE) : Answer(); });
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = "{backoff: {initial: 1ms}, budget: {wait: 10m, burst: {least: 1}}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall call(channel, "/test.Echo/Unary");
  ASSERT_TRUE(call.Start() && call.Write("patient") && call.HalfClose());
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waiting", {}, 1));
  away = false;
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(CallUnary(channel).status.ok());
    return sidecar.Sum("levee_retries_waiting") == 0;
  }));
  EXPECT_EQ(call.Read(), "patient");
  EXPECT_TRUE(call.Finish().ok());
}

TEST(Waiting, ARetryThatWaitsIsShownAndEndsWithItsCaller) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = "{backoff: {initial: 1ms}, budget: {wait: 10m, burst: {least: 1}}}"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Unary");
  ASSERT_TRUE(call.Start() && call.Write("hello") && call.HalfClose());
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waiting", {}, 1));
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waited_total", {R"(result="cancelled")"}, 1));
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waiting", {}, 0));
}

TEST(Waiting, AWaitThatTheDeadlineEndsHasTheCodeAndTheTextOfTheLastFailure) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{backoff: {initial: 1ms}, budget: {wait: 10m}}",
                          .more = "access_log: {path: stdout, when: [all]}\n"});
  const Reply reply =
      CallUnary(NewChannel(sidecar.address()), "x", [](grpc::ClientContext& context) {
        context.set_deadline(std::chrono::system_clock::now() + 4s);
      });
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(reply.status.error_message(),
              testing::MatchesRegex("waited [0-9]+ ms for a success after 2 attempts, last "
                                    "UNAVAILABLE at " +
                                    service.address() + ".*"));
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waited_total", {R"(result="deadline")"}, 1));
  EXPECT_EQ(sidecar.Sum("levee_retries_refused_total", {R"(reason="budget")"}), 1);
  const LogLine line(sidecar.process().ReadLine().value_or("{}"));
  EXPECT_EQ(line.Text("refused"), "budget");
  EXPECT_EQ(line.Text("message"), reply.status.error_message());
  const auto waits = line.List("waits");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].Text("end"), "deadline");
}

TEST(Waiting, AWaitThatExpiresIsAnsweredAsARefusalByTheBudget) {
  FaultyService service(AlwaysFail());
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .retry = "{backoff: {initial: 1ms}, budget: {wait: 3s}}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  ByteCall one(channel, "/test.Echo/Unary");
  ByteCall other(channel, "/test.Echo/Unary");
  for (ByteCall* const call : {&one, &other}) {
    ASSERT_TRUE(call->Start() && call->Write("hello") && call->HalfClose());
  }
  // One of them goes when the wait is over, and shows that the service is still away.
  const auto codes = {one.Finish().error_code(), other.Finish().error_code()};
  EXPECT_THAT(codes, testing::Contains(StatusCode::RESOURCE_EXHAUSTED));
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_waited_total", {R"(result="expired")"}, 1));
  EXPECT_EQ(sidecar.Sum("levee_retries_waited_total", {R"(result="released")"}), 1);
  EXPECT_GE(sidecar.Sum("levee_retries_refused_total", {R"(reason="budget")"}), 1);
  EXPECT_EQ(service.calls(), 2 + 2);
}

}  // namespace
}  // namespace levee
