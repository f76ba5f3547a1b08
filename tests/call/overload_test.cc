// SPDX-License-Identifier: Apache-2.0
// The overload mark: what the caller is answered when retrying ends, and what stops retrying.
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "call/call_fixture.h"
#include "levee/wire/v1/rpc_status.pb.h"

namespace levee {
namespace {

class CallOverload : public CallTest {
 protected:
  CallOverload() { retry_.exhausted = ExhaustedMode::kAuto; }

  void NoBudget() {
    retry_.budget.ratio = 0;
    retry_.budget.floor_per_second = 0;
  }
};

std::string_view Mark(const SimHost& call) { return call.caller().trailers.Get("levee-overload"); }

wire::v1::RpcStatus Details(const SimHost& call) {
  std::string bytes;
  wire::v1::RpcStatus status;
  EXPECT_TRUE(absl::Base64Unescape(
      std::string(call.caller().trailers.Get("grpc-status-details-bin")), &bytes));
  EXPECT_TRUE(status.ParseFromString(bytes));
  return status;
}

Answer UnavailableWithMark(const std::string& mark) {
  return TrailersOnly(StatusCode::kUnavailable, {{"levee-overload", mark}});
}

TEST_F(CallOverload, A62_BudgetUsedUpIsTheAgreedCodeWithAServiceMark) {
  NoBudget();
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no room", {{"x-kept", "yes"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "8");
  EXPECT_EQ(Mark(call), "service;reason=budget;upstream=cart;hops=1");
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(call.caller().message,
            "overloaded, do not retry: budget used up after 1 attempt, last UNAVAILABLE: no room");
  EXPECT_EQ(call.caller().trailers.Get("x-kept"), "yes");
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  EXPECT_EQ(call.record().mark_sent, OverloadScope::kService);
}

TEST_F(CallOverload, A62_TheOriginalCodeAndMessageAreInTheDetails) {
  NoBudget();
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no room")});
  const wire::v1::RpcStatus details = Details(RunUnary());
  EXPECT_EQ(details.code(), 8);
  EXPECT_NE(details.message().find("no room"), std::string::npos);
  ASSERT_EQ(details.details_size(), 1);
  wire::v1::ErrorInfo info;
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_EQ(info.reason(), "OVERLOADED_DO_NOT_RETRY");
  EXPECT_EQ(info.metadata().at("original_code"), "UNAVAILABLE");
  EXPECT_EQ(info.metadata().at("attempts"), "1");
}

TEST_F(CallOverload, A62_ThePolicysCodeIsTheAgreedOne) {
  NoBudget();
  sidecar_.overload.status = StatusCode::kAborted;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kAborted);
}

TEST_F(CallOverload, A62_MaxAttemptsUsedUpIsTheOriginalCodeWithAMark) {
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no room")});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "no room");
  EXPECT_EQ(Mark(call), "service;reason=max_attempts;upstream=cart;hops=1");
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
}

TEST_F(CallOverload, A62_TwoEndpointsThatFailedSpeakForTheService) {
  retry_.max_attempts = 2;
  const Service failing = InTurn({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 3; ++i) sidecar_.AddEndpoint(failing);
  EXPECT_EQ(Mark(RunUnary()), "service;reason=max_attempts;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_OneEndpointOfSeveralSpeaksForItself) {
  retry_.max_attempts = 1;
  const Service failing = InTurn({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 3; ++i) sidecar_.AddEndpoint(failing);
  SimHost& call = RunUnary();
  EXPECT_EQ(Mark(call), "endpoint;reason=max_attempts;upstream=cart;hops=1");
  EXPECT_FALSE(call.caller().trailers.Has("grpc-retry-pushback-ms"));
  EXPECT_EQ(call.record().mark_sent, OverloadScope::kEndpoint);
}

TEST_F(CallOverload, A62_AnEndpointThatJoinedDuringTheCallCounts) {
  retry_.max_attempts = 1;
  const Service failing = InTurn({TrailersOnly(StatusCode::kUnavailable)});
  sidecar_.AddEndpoint(failing);
  SimHost& call = sidecar_.Unary();
  sidecar_.AddEndpoint(failing);
  clock_.Run();
  EXPECT_EQ(Mark(call), "endpoint;reason=max_attempts;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_AdviceThatIsTooLongIsTheOriginalCodeWithAMark) {
  Upstream({TrailersOnly(StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "60001"}}), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(Mark(call), "service;reason=advice;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_ANegativePushbackIsTheAgreedCodeWithAMark) {
  Upstream({TrailersOnly(StatusCode::kUnavailable, {{"grpc-retry-pushback-ms", "-1"}}), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(Mark(call), "service;reason=pushback;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_WithReplaceEveryExhaustionIsTheAgreedCode) {
  retry_.exhausted = ExhaustedMode::kReplace;
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(Mark(call), "service;reason=max_attempts;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_WithMarkEveryExhaustionKeepsTheOriginalCode) {
  retry_.exhausted = ExhaustedMode::kMark;
  NoBudget();
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(Mark(call), "service;reason=budget;upstream=cart;hops=1");
}

TEST_F(CallOverload, A62_WithKeepNothingIsChanged) {
  retry_.exhausted = ExhaustedMode::kKeep;
  NoBudget();
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "no room", {{"x-kept", "yes"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().message, "no room");
  EXPECT_EQ(call.caller().trailers.size(), 3u);
}

TEST_F(CallOverload, A62_AFailureWithoutTrailersIsMarkedInABlockOfItsOwn) {
  NoBudget();
  Upstream({Answer().CannotConnect(Ms(1))});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(Mark(call), "service;reason=budget;upstream=cart;hops=1");
  EXPECT_EQ(call.caller().trailers.Get("grpc-retry-pushback-ms"), "-1");
  EXPECT_EQ(call.caller().message, "connection refused");
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
}

TEST_F(CallOverload, A62_AnAttemptThatTimedOutLeavesNoTrailersOfAnEarlierOne) {
  retry_.max_attempts = 2;
  retry_.attempt_timeout = Ms(50);
  Upstream({TrailersOnly(StatusCode::kUnavailable, {{"x-first", "yes"}}), Silence()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Mark(call), "service;reason=max_attempts;upstream=cart;hops=1");
  EXPECT_FALSE(call.caller().trailers.Has("x-first"));
}

TEST_F(CallOverload, A62_AFailureThatMayHaveBeenProcessedPassesUnchanged) {
  policy_.idempotency = IdempotencyMode::kNever;
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().trailers.size(), 1u);
  EXPECT_EQ(call.record().refused, RefusalReason::kNotIdempotent);
}

TEST_F(CallOverload, A63_AServiceMarkEndsRetryingAndIsPassedOnOneHopHigher) {
  Upstream({UnavailableWithMark("service;reason=budget;upstream=deep;hops=2"), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(Mark(call), "service;reason=budget;upstream=deep;hops=3");
  EXPECT_EQ(call.record().refused, RefusalReason::kOverloadMark);
  EXPECT_EQ(call.record().attempts[0].mark_received, OverloadScope::kService);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 0);
}

TEST_F(CallOverload, A63_AServiceMarkIsPassedOnOneHopHigherAlsoOnAnUnlistedCode) {
  Upstream({TrailersOnly(StatusCode::kResourceExhausted,
                         {{"levee-overload", "service;reason=budget;upstream=deep;hops=1"}})});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(Mark(call), "service;reason=budget;upstream=deep;hops=2");
}

TEST_F(CallOverload, A63_AServiceMarkAfterTheRequestOutgrewTheBufferIsPassedOnToo) {
  retry_.buffer_bytes = 2;
  Upstream({UnavailableWithMark("service;reason=budget;upstream=deep;hops=1")});
  EXPECT_EQ(Mark(RunUnary()), "service;reason=budget;upstream=deep;hops=2");
}

TEST_F(CallOverload, A63_AnEndpointMarkIsRetriedElsewhere) {
  const Service script = InTurn({UnavailableWithMark("endpoint;reason=max_attempts"), Ok()});
  for (int i = 0; i < 3; ++i) sidecar_.AddEndpoint(script);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_NE(call.attempt(2).endpoint, call.attempt(1).endpoint);
  EXPECT_EQ(call.record().attempts[0].mark_received, OverloadScope::kEndpoint);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallOverload, A63_AnEndpointMarkIsNotRetriedWhereThereIsNoOtherEndpoint) {
  Upstream({UnavailableWithMark("endpoint;reason=max_attempts;hops=1"), Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(Mark(call), "endpoint;reason=max_attempts;upstream=cart;hops=2");
}

TEST_F(CallOverload, A63_EndpointMarksOfAllEndpointsEndRetrying) {
  const Service marking = InTurn({UnavailableWithMark("endpoint;reason=max_attempts;hops=1")});
  sidecar_.AddEndpoint(marking);
  sidecar_.AddEndpoint(marking);
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.record().refused, RefusalReason::kOverloadMark);
}

TEST_F(CallOverload, A63_AMarkThatIsNotHonouredIsRetried) {
  sidecar_.overload.honor = {.levee = false, .error_info = false, .pushback = false};
  Upstream({UnavailableWithMark("service;reason=budget;hops=1"), Ok()});
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);
}

}  // namespace
}  // namespace levee
