// SPDX-License-Identifier: Apache-2.0
// Spans as OTLP has them.
#include "otlp/span_message.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using opentelemetry::proto::trace::v1::ScopeSpans;
using opentelemetry::proto::trace::v1::Span;
using opentelemetry::proto::trace::v1::Status;
using testing::ElementsAre;
using testing::Pair;

CallSpans Call(StatusCode code) {
  CallSpans call;
  call.trace_id = {.high = 0x0102030405060708, .low = 0x090a0b0c0d0e0f10};
  call.id = 0x11;
  call.start = absl::UnixEpoch() + absl::Nanoseconds(1'700'000'000'000'000'001);
  call.end = call.start + absl::Milliseconds(5);
  call.method = "shop.v1.Cart/Add";
  call.authority = "cart.shop:50051";
  call.upstream = "cart";
  call.policy = "patient";
  call.listener = "egress";
  call.code = code;
  return call;
}

ScopeSpans Message(const CallSpans& call) {
  ScopeSpans spans;
  AddSpans(call, spans);
  return spans;
}

// Numbers in decimal.
std::map<std::string, std::string> Attributes(const Span& span) {
  std::map<std::string, std::string> texts;
  for (const auto& attribute : span.attributes()) {
    const auto& value = attribute.value();
    texts[attribute.key()] = value.has_string_value() ? value.string_value()
                             : value.has_int_value()  ? std::to_string(value.int_value())
                             : value.has_bool_value() ? (value.bool_value() ? "true" : "false")
                                                      : std::to_string(value.double_value());
  }
  return texts;
}

TEST(SpanMessage, ACallHasItsIdsTimesAndNames) {
  CallSpans call = Call(StatusCode::kOk);
  call.parent_id = 0x2200000000000000;
  const Span span = Message(call).spans(0);
  EXPECT_EQ(span.trace_id(), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10");
  EXPECT_EQ(span.span_id(), std::string(7, '\0') + "\x11");
  EXPECT_EQ(span.parent_span_id(), "\x22" + std::string(7, '\0'));
  EXPECT_EQ(span.name(), "shop.v1.Cart/Add");
  EXPECT_EQ(span.kind(), Span::SPAN_KIND_SERVER);
  EXPECT_EQ(span.start_time_unix_nano(), 1'700'000'000'000'000'001U);
  EXPECT_EQ(span.end_time_unix_nano(), 1'700'000'000'005'000'001U);
  EXPECT_FALSE(span.has_status());
  EXPECT_THAT(Attributes(span),
              ElementsAre(Pair("levee.attempts", "0"), Pair("levee.listener", "egress"),
                          Pair("levee.policy", "patient"), Pair("levee.upstream", "cart"),
                          Pair("rpc.grpc.status_code", "0"), Pair("rpc.method", "Add"),
                          Pair("rpc.service", "shop.v1.Cart"), Pair("rpc.system", "grpc"),
                          Pair("server.address", "cart.shop"), Pair("server.port", "50051")));
  EXPECT_EQ(Message(Call(StatusCode::kOk)).spans(0).parent_span_id(), "");
}

TEST(SpanMessage, AnAttemptSaysWhyItWasMade) {
  CallSpans call = Call(StatusCode::kOk);
  call.attempts.push_back({.id = 0x21, .code = StatusCode::kUnavailable});
  call.attempts.push_back({.id = 0x22,
                           .code = StatusCode::kOk,
                           .transparent = true,
                           .trigger = RetryTrigger::kRefused,
                           .delay = absl::Microseconds(1500),
                           .endpoint = "10.0.0.7:50051",
                           .mark = OverloadScope::kEndpoint});
  const ScopeSpans spans = Message(call);
  ASSERT_EQ(spans.spans_size(), 3);
  const Span& first = spans.spans(1);
  EXPECT_EQ(first.parent_span_id(), spans.spans(0).span_id());
  EXPECT_EQ(first.trace_id(), spans.spans(0).trace_id());
  EXPECT_EQ(first.kind(), Span::SPAN_KIND_CLIENT);
  EXPECT_EQ(first.status().code(), Status::STATUS_CODE_ERROR);
  EXPECT_EQ(first.status().message(), "UNAVAILABLE");
  EXPECT_THAT(Attributes(first),
              ElementsAre(Pair("levee.attempt", "1"), Pair("levee.upstream", "cart"),
                          Pair("rpc.grpc.status_code", "14"), Pair("rpc.method", "Add"),
                          Pair("rpc.service", "shop.v1.Cart"), Pair("rpc.system", "grpc")));
  EXPECT_FALSE(spans.spans(2).has_status());
  EXPECT_THAT(Attributes(spans.spans(2)),
              ElementsAre(Pair("levee.attempt", "2"), Pair("levee.delay_ms", "1.500000"),
                          Pair("levee.overload", "endpoint"), Pair("levee.transparent", "true"),
                          Pair("levee.trigger", "refused"), Pair("levee.upstream", "cart"),
                          Pair("rpc.grpc.status_code", "0"), Pair("rpc.method", "Add"),
                          Pair("rpc.service", "shop.v1.Cart"), Pair("rpc.system", "grpc"),
                          Pair("server.address", "10.0.0.7"), Pair("server.port", "50051")));
}

TEST(SpanMessage, TheStatusOfACallIsAnErrorOfTheServerOrOfLevee) {
  const auto is_error = [](const CallSpans& call) {
    return Message(call).spans(0).status().code() == Status::STATUS_CODE_ERROR;
  };
  for (const StatusCode code :
       {StatusCode::kUnknown, StatusCode::kDeadlineExceeded, StatusCode::kUnimplemented,
        StatusCode::kInternal, StatusCode::kUnavailable, StatusCode::kDataLoss}) {
    EXPECT_TRUE(is_error(Call(code))) << StatusCodeName(code);
  }
  for (const StatusCode code :
       {StatusCode::kOk, StatusCode::kCancelled, StatusCode::kInvalidArgument,
        StatusCode::kNotFound, StatusCode::kAlreadyExists, StatusCode::kPermissionDenied,
        StatusCode::kResourceExhausted, StatusCode::kFailedPrecondition, StatusCode::kAborted,
        StatusCode::kOutOfRange, StatusCode::kUnauthenticated}) {
    EXPECT_FALSE(is_error(Call(code))) << StatusCodeName(code);
  }
  CallSpans refused = Call(StatusCode::kResourceExhausted);
  refused.refused = "budget";
  EXPECT_TRUE(is_error(refused));
  CallSpans rescued = Call(StatusCode::kOk);  // A further hedge was refused.
  rescued.refused = "budget";
  EXPECT_FALSE(is_error(rescued));
}

TEST(SpanMessage, AnAttemptGivenUpForAnotherHasNoStatus) {
  CallSpans call = Call(StatusCode::kOk);
  call.attempts.push_back({.id = 1, .code = StatusCode::kCancelled, .given_up = true});
  call.attempts.push_back({.id = 2, .code = StatusCode::kCancelled});
  const ScopeSpans spans = Message(call);
  EXPECT_FALSE(spans.spans(1).has_status());
  EXPECT_TRUE(spans.spans(2).has_status());
}

TEST(SpanMessage, NamesThatAreNoMethodAreTakenAsTheyAre) {
  CallSpans call = Call(StatusCode::kUnimplemented);
  call.method = "";
  call.authority = "unix-socket";
  Span span = Message(call).spans(0);
  EXPECT_EQ(span.name(), "unknown");
  EXPECT_EQ(Attributes(span)["server.address"], "unix-socket");
  EXPECT_FALSE(Attributes(span).contains("server.port"));
  EXPECT_FALSE(Attributes(span).contains("rpc.service"));
  call.method = "alone";
  EXPECT_EQ(Attributes(Message(call).spans(0))["rpc.method"], "alone");
}

}  // namespace
}  // namespace levee
