// SPDX-License-Identifier: Apache-2.0
// Retries as a real service and a real client see them.
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"
#include "levee/wire/v1/rpc_status.pb.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using testing::HasSubstr;

// Section A of the checks: 4 attempts and no want of budget.
std::string PatientAttempts(const std::string& more = "") {
  return "{max_attempts: 4, exhausted: keep, min_remaining: off, budget: {ratio: 100}, backoff: "
         "{initial: 1ms, max: 5ms}" +
         more + "}";
}

class Retrying {
 public:
  Retrying(FaultyService::Script script, const std::string& retry)
      : service(std::move(script)),
        sidecar({.endpoints = {service.address()}, .retry = retry}),
        channel(NewChannel(sidecar.address())) {}

  FaultyService service;
  SidecarProcess sidecar;
  ChannelPtr channel;
};

FaultyService::Script FailOnceWith(FieldList trailers) {
  return [trailers](const SeenCall& call) {
    if (call.number > 1) return Answer();
    Answer answer = Fails(StatusCode::UNAVAILABLE);
    answer.trailers = trailers;
    return answer;
  };
}

TEST(Retries, A1_TwoFailuresAreHiddenFromTheCaller) {  // A2
  Retrying run(FailFirst(2), PatientAttempts());
  const Reply reply = CallUnary(run.channel, "body");
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.body, "body");
  const auto seen = run.service.seen();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(Values(seen[0].metadata, "grpc-previous-rpc-attempts"), "");
  EXPECT_EQ(Values(seen[1].metadata, "grpc-previous-rpc-attempts"), "1");
  EXPECT_EQ(Values(seen[2].metadata, "grpc-previous-rpc-attempts"), "2");
}

TEST(Retries, A3_TheLastFailureArrivesWhenAllAttemptsFail) {
  Retrying run(
      [](const SeenCall& call) {
        Answer answer = Fails(StatusCode::UNAVAILABLE, "failure " + std::to_string(call.number));
        answer.trailers = {{"x-number", std::to_string(call.number)}};
        return answer;
      },
      PatientAttempts());
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "failure 4");
  EXPECT_EQ(Values(reply.trailers, "x-number"), "4");
  EXPECT_EQ(run.service.calls(), 4);
}

TEST(Retries, A4_ACodeThatIsNotListedIsNotRetried) {
  Retrying run([](const SeenCall&) { return Fails(StatusCode::INTERNAL, "broken"); },
               PatientAttempts());
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(reply.status.error_message(), "broken");
  EXPECT_EQ(run.service.calls(), 1);
}

TEST(Retries, A18_TheReplayedRequestEqualsTheFirst) {
  Retrying run(
      [](const SeenCall& call) {
        Answer answer = call.number == 1 ? Fails(StatusCode::UNAVAILABLE) : Answer();
        answer.read_first = true;
        return answer;
      },
      PatientAttempts());
  ByteCall call(run.channel, "/test.Echo/Collect");
  ASSERT_TRUE(call.Start());
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    const std::string message = std::to_string(i) + std::string(1000, 'm');
    sent += message;
    ASSERT_TRUE(call.Write(message));
  }
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Read() == sent);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(run.service.calls(), 2);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_replay_buffer_bytes", {}, 0));  // A19
}

TEST(Retries, A13_ABodyBeyondTheBufferIsNotReplayed) {
  Retrying run(
      [](const SeenCall&) {
        Answer answer = Fails(StatusCode::UNAVAILABLE, "too much");
        answer.read_first = true;
        return answer;
      },
      PatientAttempts(", buffer: 64KiB"));
  const Reply reply = CallUnary(run.channel, std::string(100 * 1024, 'b'));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "too much");
  EXPECT_EQ(run.service.calls(), 1);
  EXPECT_EQ(run.service.bytes_read(), 100 * 1024);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_retries_refused_total", {}, 1));
}

TEST(Retries, A9_AFailureAfterAMessageIsNotRetried) {
  Retrying run(
      [](const SeenCall&) {
        Answer answer = Fails(StatusCode::UNAVAILABLE, "broke off");
        answer.fail_after = 1;
        return answer;
      },
      PatientAttempts());
  ByteCall call(run.channel, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("3 10"));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Read().has_value());
  EXPECT_FALSE(call.Read().has_value());
  EXPECT_EQ(call.Finish().error_message(), "broke off");
  EXPECT_EQ(run.service.calls(), 1);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="committed")"}, 1));
}

TEST(Retries, A8_AHeldHeadIsForgottenWhenTheAttemptFails) {
  Retrying run(
      [](const SeenCall& call) {
        Answer answer = call.number == 1 ? Fails(StatusCode::UNAVAILABLE) : Answer();
        answer.read_first = true;
        answer.send_head = true;
        answer.head = {{"x-number", std::to_string(call.number)}};
        return answer;
      },
      PatientAttempts(", hold: 10s"));
  const Reply reply = CallUnary(run.channel);
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(Values(reply.head, "x-number"), "2");
}

TEST(Retries, A8_WithCommitHeadersAHeadCommits) {
  Retrying run(
      [](const SeenCall&) {
        Answer answer = Fails(StatusCode::UNAVAILABLE);
        answer.read_first = true;
        answer.send_head = true;
        // Without fields of its own gRPC may leave the head out after all.
        answer.head = {{"x-head", "1"}};
        return answer;
      },
      PatientAttempts(", commit: headers"));
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(run.service.calls(), 1);
}

TEST(Retries, A33_PushbackIsTheDelay) {
  Retrying run(FailOnceWith({{"grpc-retry-pushback-ms", "100"}}), PatientAttempts());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_GE(run.service.seen().at(1).at - start, milliseconds(100));
}

TEST(Retries, A34_APushbackOfZeroRetriesAtOnce) {
  // A backoff that the call's deadline would not allow.
  Retrying run(FailOnceWith({{"grpc-retry-pushback-ms", "0"}}),
               "{max_attempts: 2, budget: {ratio: 1}, min_remaining: off, "
               "backoff: {initial: 10m, max: 10m, jitter: none}}");
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
}

TEST(Retries, A36_NegativeAndUnreadablePushbackEndRetrying) {  // A37
  for (const FieldList& trailers : {FieldList{{"grpc-retry-pushback-ms", "-1"}},
                                    FieldList{{"grpc-retry-pushback-ms", "xxx"}}}) {
    Retrying run(FailOnceWith(trailers), PatientAttempts());
    EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE)
        << trailers[0].second;
    EXPECT_EQ(run.service.calls(), 1) << trailers[0].second;
  }
}

TEST(Retries, A30_AnAttemptTimeoutCancelsTheAttempt) {
  Retrying run(
      [](const SeenCall& call) {
        Answer answer;
        if (call.number == 1) answer.delay = kLongerThanAnyTest;
        return answer;
      },
      // A machine may be too slow for some of the attempts, and not for all of them.
      "{max_attempts: 100, min_remaining: off, budget: {ratio: 100}, backoff: {initial: 1ms, max: "
      "5ms}, attempt_timeout: 500ms, failures: [timeout]}");
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_GE(run.service.calls(), 2);
  EXPECT_TRUE(run.service.WaitFor([&] { return run.service.cancelled() >= 1; }));
}

TEST(Retries, A30_TheLastAttemptTimeoutIsADeadlineExceeded) {  // A68
  Retrying run([](const SeenCall&) { return Answer(); },
               PatientAttempts(", attempt_timeout: 300ms"));
  ByteCall call(run.channel, "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_attempts_total", {}, 1));
}

TEST(Retries, A23_ABackoffBeyondTheDeadlineIsNotBegun) {
  Retrying run(AlwaysFail(), "{backoff: {initial: 10m, max: 10m, jitter: none}}");
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_retries_refused_total", {R"(reason="deadline")"}, 1));
}

TEST(Retries, A25_ACancellationInBackoffStartsNoAttempt) {
  Retrying run(AlwaysFail(), "{backoff: {initial: 10m, max: 10m, jitter: none}}");
  ByteCall call(run.channel, "/test.Echo/Unary");
  // Without a deadline the backoff is begun.
  call.context().set_deadline(std::chrono::system_clock::time_point::max());
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(run.service.WaitFor([&] { return run.service.calls() == 1; }));
  call.context().TryCancel();
  EXPECT_EQ(call.Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, 1));
  EXPECT_EQ(run.service.calls(), 1);
}

// Returns the details of a marked answer as text.
wire::v1::ErrorInfo MarkIn(const grpc::Status& status) {
  wire::v1::RpcStatus details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code());  // A67
  wire::v1::ErrorInfo info;
  if (details.details_size() > 0) info.ParseFromString(details.details(0).value());
  return info;
}

TEST(Marks, A62_MaxAttemptsUsedUpKeepTheCodeAndMarkIt) {
  Retrying run(AlwaysFail(), "{budget: {ratio: 100}, backoff: {initial: 1ms}}");
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(), "scripted");
  EXPECT_EQ(Values(reply.trailers, "levee-overload"),
            "service;reason=max_attempts;upstream=shop;hops=1");
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "-1");
  const auto info = MarkIn(reply.status);
  EXPECT_EQ(info.reason(), "OVERLOADED_DO_NOT_RETRY");
  EXPECT_EQ(info.domain(), "levee");
  EXPECT_EQ(info.metadata().at("attempts"), "3");
  EXPECT_EQ(run.service.calls(), 3);
}

TEST(Marks, A62_ABudgetUsedUpIsAnsweredWithTheAgreedCode) {
  Retrying run(AlwaysFail(), "{budget: {ratio: 0, floor: {per_second: 0}}}");
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("overloaded, do not retry"));
  EXPECT_THAT(reply.status.error_message(), HasSubstr("last UNAVAILABLE: scripted"));
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "service;reason=budget;upstream=shop;hops=1");
  EXPECT_EQ(Values(reply.trailers, "grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(MarkIn(reply.status).metadata().at("original_code"), "UNAVAILABLE");
  EXPECT_EQ(run.service.calls(), 1);
}

TEST(Marks, A63_AMarkThatIsReceivedIsPassedOnWithOneMoreHop) {
  Retrying below(AlwaysFail(), "{budget: {ratio: 0, floor: {per_second: 0}}}");
  SidecarProcess above({.endpoints = {below.sidecar.address()},
                        .retry = "{codes: [UNAVAILABLE, RESOURCE_EXHAUSTED]}"});
  const Reply reply = CallUnary(NewChannel(above.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Values(reply.trailers, "levee-overload"), "service;reason=budget;upstream=shop;hops=2");
  EXPECT_EQ(MarkIn(reply.status).metadata().at("original_code"), "UNAVAILABLE");
  EXPECT_EQ(below.service.calls(), 1);
}

TEST(Marks, A63_AnEndpointThatAsksNotToBeRetriedIsNotAskedAgain) {
  const auto overloaded = [](const SeenCall&) {
    Answer answer;
    answer.status = grpc::Status(StatusCode::UNAVAILABLE, "busy");
    answer.trailers = {{"levee-overload", "endpoint;reason=max_attempts;upstream=x;hops=1"}};
    return answer;
  };
  FaultyService first(overloaded), second(overloaded);
  SidecarProcess sidecar({.endpoints = {first.address(), second.address()},
                          .retry = "{max_attempts: 5, budget: {ratio: 100}, backoff: {initial: "
                                   "1ms}}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(Values(reply.trailers, "levee-overload"),
            "endpoint;reason=max_attempts;upstream=x;hops=2");
  EXPECT_EQ(first.calls(), 1);
  EXPECT_EQ(second.calls(), 1);
}

}  // namespace
}  // namespace levee
