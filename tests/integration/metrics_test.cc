// SPDX-License-Identifier: Apache-2.0
// /metrics agrees with the calls that were made.
#include <chrono>
#include <deque>
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

constexpr const char* kOfEcho = R"({upstream="shop",method="test.Echo/Unary",)";

class MeasuredSidecar {
 public:
  explicit MeasuredSidecar(FaultyService::Script script, const std::string& retry = "{}")
      : service(std::move(script)),
        sidecar({.endpoints = {service.address()}, .retry = retry}),
        channel(NewChannel(sidecar.address())) {}

  double Of(const std::string& name, const std::string& labels) const {
    return sidecar.Metric(name + kOfEcho + labels + "}");
  }

  FaultyService service;
  SidecarProcess sidecar;
  ChannelPtr channel;
};

TEST(MetricsOfARun, CountCallsAttemptsAndRetries) {
  MeasuredSidecar run(FailFirst(2), "{backoff: {initial: 1ms}, budget: {ratio: 10, wait: none}}");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_EQ(run.Of("levee_calls_total", R"(code="OK",kind="unary")"), 5);
  EXPECT_EQ(run.Of("levee_attempts_total", R"(code="OK")"), 5);
  EXPECT_EQ(run.Of("levee_attempts_total", R"(code="UNAVAILABLE")"), 2);
  EXPECT_EQ(run.Of("levee_retries_total", R"(trigger="status",code="UNAVAILABLE")"), 2);
  EXPECT_EQ(run.Of("levee_call_attempts_count", R"(result="ok")"), 5);
  EXPECT_EQ(run.Of("levee_call_attempts_sum", R"(result="ok")"), 7);
  EXPECT_EQ(run.sidecar.Metric(R"(levee_retry_backoff_seconds_count{upstream="shop"})"), 2);
  EXPECT_EQ(run.sidecar.Metric(R"(levee_attempt_duration_seconds_count{upstream="shop"})"), 7);
  EXPECT_EQ(run.sidecar.Metric(R"(levee_upstream_connections{upstream="shop"})"), 1);
  EXPECT_EQ(run.sidecar.Sum("levee_downstream_connections"), 1);
  EXPECT_EQ(run.sidecar.Sum("levee_active_calls"), 0);
}

TEST(MetricsOfARun, CountRefusalsAndMarks) {
  MeasuredSidecar run(AlwaysFail(), "{budget: {ratio: 0, floor: {per_second: 0}}}");
  for (int i = 0; i < 3; ++i) CallUnary(run.channel);
  EXPECT_EQ(run.Of("levee_calls_total", R"(code="RESOURCE_EXHAUSTED",kind="unary")"), 3);
  EXPECT_EQ(run.Of("levee_attempts_total", R"(code="UNAVAILABLE")"), 3);
  EXPECT_EQ(run.Of("levee_retries_refused_total", R"(reason="budget")"), 3);
  EXPECT_EQ(run.sidecar.Sum("levee_overload_marks_total", {R"(direction="sent")"}), 3);
  EXPECT_EQ(run.sidecar.Sum("levee_retry_budget_limit"), 0);
  EXPECT_EQ(run.sidecar.Sum("levee_retry_budget_available"), 0);
}

TEST(MetricsOfARun, ShowTheBudget) {
  MeasuredSidecar run(FailFirst(1),
                      "{backoff: {initial: 1ms}, budget: {ratio: 0.5, window: 60s, "
                      "floor: {per_second: 0}, wait: none}}");
  for (int i = 0; i < 2; ++i) CallUnary(run.channel);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_EQ(run.sidecar.Metric(R"(levee_retry_budget_limit{upstream="shop"})"), 5);
  EXPECT_EQ(run.sidecar.Metric(R"(levee_retry_budget_available{upstream="shop"})"), 5);
}

// It does not matter who ends the call first, the caller or the sidecar.
TEST(MetricsOfARun, CallsThatRunIntoTheirDeadlineAreNotCountedAsCancelled) {
  MeasuredSidecar run([](const SeenCall&) { return Answer(); });
  EXPECT_TRUE(CallUnary(run.channel).status.ok());  // Nobody has to connect any more.
  std::deque<ByteCall> calls;
  for (int i = 0; i < 20; ++i) {
    ByteCall& call = calls.emplace_back(run.channel, "/test.Echo/Sleep");
    call.context().set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    ASSERT_TRUE(call.Start());
  }
  for (ByteCall& call : calls) {
    EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  // On a machine that has no time some may not have arrived before that.
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_active_calls", {}, 0));
  const std::string code = R"(code="DEADLINE_EXCEEDED")";
  EXPECT_EQ(run.sidecar.Sum("levee_calls_total", {code}), run.sidecar.Sum("levee_calls_total") - 1);
  EXPECT_EQ(run.sidecar.Sum("levee_attempts_total", {code}),
            run.sidecar.Sum("levee_attempts_total") - 1);
  EXPECT_EQ(run.sidecar.Sum("levee_calls_total", {R"(code="CANCELLED")"}), 0);
}

TEST(MetricsOfARun, CountMarksReceived) {
  FaultyService service(AlwaysFail());
  SidecarProcess below({.endpoints = {service.address()}, .retry = "{budget: {ratio: 0}}"});
  SidecarProcess above({.endpoints = {below.address()}, .retry = "{budget: {ratio: 0}}"});
  const ChannelPtr channel = NewChannel(above.address());
  for (int i = 0; i < 30; ++i) CallUnary(channel);
  const double sent = below.Sum("levee_overload_marks_total", {R"(direction="sent")"});
  EXPECT_GT(sent, 0);
  EXPECT_EQ(above.Sum("levee_overload_marks_total", {R"(direction="received")"}), sent);
}

TEST(MetricsOfARun, ActiveCallsAreSeenWhileTheyLast) {
  MeasuredSidecar run([](const SeenCall&) { return Answer(); });
  ByteCall call(run.channel, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_active_calls", {}, 1));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_active_calls", {}, 0));
}

}  // namespace
}  // namespace levee
