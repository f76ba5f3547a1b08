// SPDX-License-Identifier: Apache-2.0
// Spans of calls, at a real receiver of OTLP, between real gRPC peers.
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/sidecar_process.h"
#include "integration/span_receiver.h"
#include "integration/tcp.h"
#include "integration/traced.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// The traceparent with which the attempt of this span left.
std::string TraceparentOf(const SeenSpan& span, const std::string& flags = "01") {
  return "00-" + span.trace_id + "-" + span.id + "-" + flags;
}

TEST(Otlp, ARetriedCallHasASpanAndOneForEachAttempt) {
  FaultyService service(FailFirst(1));
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address()));
  EXPECT_TRUE(
      CallUnary(NewChannel(sidecar.address()), "hello",
                With({{"traceparent", CallersTraceparent("01")}, {"tracestate", "vendor=1"}}))
          .status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(3);
  ASSERT_THAT(spans, SizeIs(3));
  const SeenSpan& call = spans[0];
  EXPECT_EQ(call.name, "test.Echo/Unary");
  EXPECT_EQ(call.trace_id, kCallersTrace);
  EXPECT_EQ(call.parent, kCallersSpan);
  EXPECT_EQ(call.trace_state, "vendor=1");
  EXPECT_FALSE(call.client);
  EXPECT_FALSE(call.error);
  EXPECT_EQ(call["rpc.system"], "grpc");
  EXPECT_EQ(call["rpc.service"], "test.Echo");
  EXPECT_EQ(call["rpc.method"], "Unary");
  EXPECT_EQ(call["rpc.grpc.status_code"], "0");
  EXPECT_EQ(call["levee.upstream"], "shop");
  EXPECT_EQ(call["levee.policy"], "test");
  EXPECT_EQ(call["levee.attempts"], "2");
  EXPECT_EQ(call["levee.refused"], "-");
  for (const int i : {1, 2}) {
    const SeenSpan& attempt = spans[static_cast<size_t>(i)];
    EXPECT_EQ(attempt.trace_id, kCallersTrace);
    EXPECT_EQ(attempt.parent, call.id);
    EXPECT_TRUE(attempt.client);
    EXPECT_EQ(attempt["levee.attempt"], std::to_string(i));
    EXPECT_EQ(attempt["server.port"], std::to_string(service.port()));
    EXPECT_GE(attempt.start, call.start);
    EXPECT_GE(attempt.end, attempt.start);
    EXPECT_LE(attempt.end, call.end);
  }
  EXPECT_TRUE(spans[1].error);
  EXPECT_EQ(spans[1]["rpc.grpc.status_code"], "14");
  EXPECT_EQ(spans[1]["levee.trigger"], "-");
  EXPECT_FALSE(spans[2].error);
  EXPECT_EQ(spans[2]["levee.trigger"], "status");
  EXPECT_NE(spans[2]["levee.delay_ms"], "-");
  // The service sees the attempt as its caller.
  EXPECT_THAT(Traceparents(service), ElementsAre(TraceparentOf(spans[1]), TraceparentOf(spans[2])));
  EXPECT_EQ(Values(service.seen()[1].metadata, "tracestate"), "vendor=1");
  EXPECT_THAT(receiver.scope(), StartsWith("levee "));
  EXPECT_EQ(receiver.resource()["service.name"], "levee");
  EXPECT_TRUE(sidecar.WaitForSum("levee_otlp_spans_total", {R"(result="exported")"}, 3));
}

TEST(Otlp, ACallWithoutATraceBeginsOneWhichTheServiceSees) {
  FaultyService service;
  SpanReceiver receiver;
  ConfigParts parts = Traced(service, receiver.address(), kAllSpans);
  parts.more += "\naccess_log: {path: stdout, when: [all]}";
  SidecarProcess sidecar(parts);
  EXPECT_TRUE(CallUnary(NewChannel(sidecar.address())).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].parent, "");
  EXPECT_EQ(spans[1].parent, spans[0].id);
  EXPECT_THAT(Traceparents(service), ElementsAre(TraceparentOf(spans[1])));
  EXPECT_EQ(LogLine(*sidecar.process().ReadLine()).Text("trace_id"), spans[0].trace_id);
}

TEST(Otlp, ACallersFlagForbidsSpans) {
  FaultyService service([](const SeenCall& call) {
    return call.method == "/test.Down/Unary" ? Fails(StatusCode::UNAVAILABLE) : Answer();
  });
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto unsampled = With({{"traceparent", CallersTraceparent("00")}});
  EXPECT_FALSE(CallUnary(channel, "hello", unsampled, "/test.Down/Unary").status.ok());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_NE(spans[0].trace_id, kCallersTrace);
  const std::string seen = Traceparents(service).front();
  EXPECT_THAT(seen, StartsWith(std::string("00-") + kCallersTrace));
  EXPECT_THAT(seen, EndsWith("-00"));
  EXPECT_EQ(seen.find(kCallersSpan), std::string::npos);
}

TEST(Otlp, OfCallsWithoutATraceThoseThatWereRetriedOrFailedHaveSpans) {
  FaultyService service([](const SeenCall& call) {
    if (call.method == "/test.Down/Unary") return Fails(StatusCode::NOT_FOUND, "nobody");
    return call.number == 3 ? Fails(StatusCode::UNAVAILABLE) : Answer();
  });
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), ", sample: 0"));
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_FALSE(CallUnary(channel, "failed", nullptr, "/test.Down/Unary").status.ok());
  EXPECT_TRUE(CallUnary(channel, "retried").status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(5);
  ASSERT_THAT(spans, SizeIs(5));
  EXPECT_EQ(spans[0]["rpc.grpc.status_code"], "5");
  EXPECT_FALSE(spans[0].error);  // It is the caller's affair, by the convention for servers.
  EXPECT_TRUE(spans[1].error);
  EXPECT_EQ(spans[2]["levee.attempts"], "2");
  // That the calls have spans is known only once they have failed.
  const std::vector<std::string> seen = Traceparents(service);
  ASSERT_THAT(seen, SizeIs(4));
  EXPECT_THAT(seen[0], EndsWith("-00"));
  EXPECT_EQ(seen[1], TraceparentOf(spans[1], "00"));
  EXPECT_EQ(seen[2], TraceparentOf(spans[3], "00"));
  EXPECT_EQ(seen[3], TraceparentOf(spans[4], "01"));
}

TEST(Otlp, ATraceparentThatCannotBeReadIsReplaced) {
  FaultyService service;
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  CallUnary(NewChannel(sidecar.address()), "hello",
            With({{"traceparent", "00-x"}, {"tracestate", "vendor=1"}}));
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].trace_state, "");
  EXPECT_THAT(Traceparents(service), ElementsAre(TraceparentOf(spans[1])));
  EXPECT_EQ(Values(service.seen()[0].metadata, "tracestate"), "");
}

TEST(Otlp, AnAttemptThatAHedgeHasOvertakenHasNotFailed) {
  const auto is_of_caller = [](const SeenCall& call) {
    return absl::StrContains(Values(call.metadata, "traceparent"), kCallersTrace);
  };
  std::atomic<bool> held = false;
  FaultyService service([&](const SeenCall& call) {
    Answer answer;
    if (!is_of_caller(call) && !held.exchange(true)) answer.delay = kLongerThanAnyTest;
    return answer;
  });
  SpanReceiver receiver;
  ConfigParts parts = Traced(service, receiver.address(), ", sample: 0");
  parts.retry = "{budget: {ratio: 100}}";
  parts.policy = ", idempotency: {mode: always}, hedge: {delay: 20ms}";
  SidecarProcess sidecar(parts);
  const ChannelPtr channel = NewChannel(sidecar.address());
  // Opens the connection, and has no spans even where it is hedged: an attempt that waited for a
  // connection for longer than the hedge's delay would leave when it is known that its call has
  // spans.
  ASSERT_TRUE(
      CallUnary(channel, "hello", With({{"traceparent", CallersTraceparent("00")}})).status.ok());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(3);
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1]["rpc.grpc.status_code"], "1");
  EXPECT_FALSE(spans[1].error);
  EXPECT_EQ(spans[2]["levee.trigger"], "hedge");
  EXPECT_LT(spans[2].start, spans[1].end);
  std::vector<std::string> seen;
  for (const SeenCall& call : service.seen()) {
    if (!is_of_caller(call)) seen.push_back(Values(call.metadata, "traceparent"));
  }
  EXPECT_THAT(seen, ElementsAre(TraceparentOf(spans[1], "00"), TraceparentOf(spans[2])));
}

TEST(Otlp, AStreamHasTheSpanOfItsWholeLength) {
  FaultyService service;
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), kAllSpans));
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  for (const char* message : {"one", "two", "three"}) {
    ASSERT_TRUE(call.Write(message));
    EXPECT_EQ(call.Read(), message);
  }
  EXPECT_THAT(receiver.spans(), SizeIs(0));
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Finish().ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].name, "test.Echo/Chat");
  EXPECT_EQ(spans[0]["levee.attempts"], "1");
}

TEST(Otlp, ACallRefusedByTheBudgetSaysSo) {
  FaultyService service(AlwaysFail());
  SpanReceiver receiver;
  ConfigParts parts = Traced(service, receiver.address());
  parts.retry = "{budget: {ratio: 0, floor: {per_second: 0}}}";
  SidecarProcess sidecar(parts);
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0]["levee.refused"], "budget");
  EXPECT_EQ(spans[0]["levee.overload"], "service");
  EXPECT_TRUE(spans[0].error);
  EXPECT_THAT(spans[0].message, StartsWith("overloaded, do not retry: budget used up"));
}

TEST(Otlp, ACallRefusedByARateLimitHasNoAttempt) {
  FaultyService service;
  SpanReceiver receiver;
  ConfigParts parts = Traced(service, receiver.address(), ", sample: 0");
  parts.policy = ", rate_limit: [{name: all, rate: 1/h}]";
  SidecarProcess sidecar(parts);
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_FALSE(CallUnary(channel).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(1);
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0]["levee.refused"], "rate_limit");
  EXPECT_EQ(spans[0]["levee.attempts"], "0");
  EXPECT_EQ(spans[0]["rpc.grpc.status_code"], "8");
  EXPECT_TRUE(spans[0].error);
}

TEST(Otlp, ACallThatItsCallerEndsIsCancelledAndNoError) {
  FaultyService service;
  SpanReceiver receiver;
  SidecarProcess sidecar(Traced(service, receiver.address(), ", sample: 0"));
  {
    ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sleep");
    ASSERT_TRUE(call.Start());
    ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  }
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0]["rpc.grpc.status_code"], "1");
  EXPECT_FALSE(spans[0].error);
  EXPECT_EQ(spans[1]["rpc.grpc.status_code"], "1");
}

TEST(Otlp, AnAttemptThatReachesNoEndpointNamesNone) {
  FaultyService service;
  SpanReceiver receiver;
  const ReservedPort port;
  ConfigParts parts = Traced(service, receiver.address());
  parts.endpoints = {port.address()};
  parts.retry = "{max_attempts: 1}";
  SidecarProcess sidecar(parts);
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[1]["server.address"], "-");
  EXPECT_TRUE(spans[1].error);
  EXPECT_THAT(spans[0].message, HasSubstr("connection refused"));
}

// The application forwards the trace id, by which calls are tied to each other.
TEST(Otlp, ACallToTheApplicationHasOneTraceForItsSpansAndItsTie) {
  FaultyService application;
  SpanReceiver receiver;
  const TempFile config(
      "listeners: [{name: in, address: \"127.0.0.1:0\", direction: inbound}]\n"
      "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
      "upstreams: [{name: app, endpoints: [\"" +
      application.address() +
      "\"]}]\n"
      "routes: [{match: {listener: in}, upstream: app, policy: guarded}]\n"
      "policies: [{name: guarded, guard: {}}]\n"
      "otlp: {sample: 1, address: \"" +
      receiver.address() + "\"}\n");
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  EXPECT_TRUE(CallUnary(NewChannel(sidecar->address("in"))).status.ok());
  const std::vector<SeenSpan> spans = receiver.Await(2);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].parent, "");
  EXPECT_THAT(Traceparents(application), ElementsAre(TraceparentOf(spans[1])));
  EXPECT_TRUE(sidecar->WaitForSum("levee_tie_total", {R"(result="trace_added")"}, 1));
}

}  // namespace
}  // namespace levee
