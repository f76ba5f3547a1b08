// SPDX-License-Identifier: Apache-2.0
// Hedged calls between real gRPC peers.
#include <string>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/descriptors.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;

// The budget wants one retry a second at least; tests make more.
constexpr char kHedgedRetry[] = "{budget: {ratio: 100}}";
constexpr char kAlwaysHedged[] = ", idempotency: {mode: always}";

// The first call of each pair never ends by itself.
FaultyService::Script SlowFirst() {
  return [](const SeenCall& call) {
    Answer answer;
    if (call.number % 2 == 1) answer.delay = kLongerThanAnyTest;
    answer.trailers = {{"x-number", std::to_string(call.number)}};
    return answer;
  };
}

TEST(Hedging, A70_TheAttemptThatAnswersFirstWinsAndTheOtherIsCancelled) {  // A73
  FaultyService service(SlowFirst());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = kHedgedRetry,
                          .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 20ms}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()), "body");
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.body, "body");
  EXPECT_EQ(Values(reply.trailers, "x-number"), "2");
  EXPECT_TRUE(service.WaitFor([&] { return service.cancelled() == 1; }));
  EXPECT_EQ(service.calls(), 2);
  EXPECT_TRUE(sidecar.WaitForSum("levee_retries_total", {R"(trigger="hedge")"}, 1));
  EXPECT_EQ(sidecar.Sum("levee_attempts_total"), 2);
  EXPECT_EQ(sidecar.Sum("levee_calls_total", {R"(code="OK")"}), 1);
}

TEST(Hedging, A70_AStreamingRequestGoesToEveryAttempt) {
  FaultyService service(SlowFirst());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = kHedgedRetry,
                          .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 20ms}"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Collect");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("one "));
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 2; }));
  ASSERT_TRUE(call.Write("two"));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), "one two");
  EXPECT_TRUE(call.Finish().ok());
}

TEST(Hedging, A71_ANonFatalFailureIsFollowedAtOnceAndAFatalOneEndsTheCall) {
  FaultyService service([](const SeenCall& call) {
    return Fails(call.number == 1 ? StatusCode::UNAVAILABLE : StatusCode::INVALID_ARGUMENT);
  });
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = kHedgedRetry,
       .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 10m, max_attempts: 4}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(service.calls(), 2);
}

TEST(Hedging, A72_ANegativePushbackStopsIt) {
  FaultyService service([](const SeenCall&) {
    Answer answer = Fails(StatusCode::UNAVAILABLE);
    answer.trailers = {{"grpc-retry-pushback-ms", "-1"}};
    return answer;
  });
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = "{budget: {ratio: 100}, exhausted: keep}",
                          .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 10m}"});
  EXPECT_EQ(CallUnary(NewChannel(sidecar.address())).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(service.calls(), 1);
}

TEST(Hedging, A73_EveryCallGetsOneAnswerAndEveryExecutionIsAnAttemptOfTheMetrics) {
  FaultyService service([](const SeenCall& call) {
    Answer answer = call.number % 7 == 0 ? Fails(StatusCode::UNAVAILABLE) : Answer();
    answer.delay = milliseconds(call.number % 5);
    return answer;
  });
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .retry = kHedgedRetry,
       .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 1ms, max_attempts: 4}"});
  int ended = 0;
  for (const auto& [code, count] : RunLoad({NewChannel(sidecar.address())}, {.calls = 500})) {
    EXPECT_TRUE(code == StatusCode::OK || code == StatusCode::UNAVAILABLE) << code;
    ended += count;
  }
  EXPECT_EQ(ended, 500);
  EXPECT_TRUE(sidecar.WaitForSum("levee_calls_total", {}, 500));
  EXPECT_GT(service.calls(), 500);
  EXPECT_LE(service.calls(), sidecar.Sum("levee_attempts_total"));
  EXPECT_LE(sidecar.Sum("levee_attempts_total"), 4 * 500);
}

TEST(Hedging, AHedgeGoesToAnotherEndpoint) {
  FaultyService slow([](const SeenCall&) { return Answer{.delay = kLongerThanAnyTest}; });
  FaultyService quick;
  SidecarProcess sidecar({.endpoints = {slow.address(), quick.address()},
                          .retry = kHedgedRetry,
                          .policy = std::string(kAlwaysHedged) + ", hedge: {delay: 20ms}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  // Both are connected before it counts.
  EXPECT_TRUE(CallUnary(channel).status.ok());
  ASSERT_TRUE(sidecar.WaitForSum("levee_endpoints", {R"(state="ready")"}, 2));
  // The first attempt goes to either by lot, until one has gone to the slow endpoint.
  const int before = quick.calls();
  int calls = 0;
  for (; calls < 100 && slow.calls() == 0; ++calls) EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_GE(slow.calls(), 1);
  EXPECT_EQ(quick.calls(), before + calls);
}

TEST(Hedging, ADescriptorSetSaysWhichMethodsAreHedged) {
  const TempFile descriptors(Descriptors());
  FaultyService service([](const SeenCall& call) {
    Answer answer;
    answer.delay = call.number == 1 ? kLongerThanAnyTest : milliseconds(200);
    return answer;
  });
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .retry = kHedgedRetry,
                          .policy = ", hedge: {delay: 20ms}",
                          .upstream = ", descriptor_set: \"" + descriptors.path() + "\""});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(service.calls(), 2);
  EXPECT_TRUE(CallUnary(channel, "x", nullptr, "/test.Echo/Collect").status.ok());
  EXPECT_EQ(service.calls(), 3);
  // Methods of the descriptors have labels from the start.
  EXPECT_EQ(sidecar.Sum("levee_calls_total", {R"(method="test.Echo/Collect")", R"(code="OK")"}), 1);
}

}  // namespace
}  // namespace levee
