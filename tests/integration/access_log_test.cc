// SPDX-License-Identifier: Apache-2.0
// The access log says what happened, call by call.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"
#include "integration/traced.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTraceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// No want of budget, and delays that are known.
constexpr char kLoggedRetry[] =
    "{max_attempts: 3, budget: {ratio: 100, wait: none}, min_remaining: off, "
    "backoff: {constant: 2ms}}";

std::string LogOf(const std::string& when) {
  return "access_log: {path: stdout, when: [" + when + "]}\n";
}

// A service behind a sidecar that writes its access log to standard output.
class Logged {
 public:
  explicit Logged(FaultyService::Script script, ConfigParts parts = {.retry = kLoggedRetry})
      : service(std::move(script)), sidecar(Complete(std::move(parts), service)) {}

  // The next line.
  LogLine Line() {
    const auto line = sidecar.process().ReadLine();
    EXPECT_TRUE(line.has_value());
    return LogLine(line.value_or("{}"));
  }

  // True if no line is left when the sidecar has stopped.
  bool EndsWithoutLine() {
    sidecar.process().Signal(SIGTERM);
    sidecar.process().Signal(SIGINT);
    return !sidecar.process().ReadLine().has_value();
  }

  FaultyService service;
  SidecarProcess sidecar;
  ChannelPtr channel = NewChannel(sidecar.address());

 private:
  static ConfigParts Complete(ConfigParts parts, const FaultyService& service) {
    parts.endpoints = {service.address()};
    if (parts.more.empty()) parts.more = LogOf("all");
    return parts;
  }
};

FaultyService::Script Healthy() {
  return [](const SeenCall&) { return Answer(); };
}

TEST(AccessLogOfARun, SaysEverythingAboutACallThatSucceeds) {
  const absl::Time before = absl::Now();
  Logged run(Healthy());
  const Reply reply = CallUnary(run.channel, "twelve bytes", [](grpc::ClientContext& context) {
    context.set_authority("shop.test:50051");
    context.AddMetadata("traceparent", kTraceparent);
  });
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  const LogLine line = run.Line();
  EXPECT_THAT(
      line.members(),
      ElementsAre("attempts", "authority", "code", "dedupe", "duration_ms", "ended_by", "guard",
                  "kind", "listener", "marks", "message", "method", "original_destination", "peer",
                  "refused", "request_bytes", "response_bytes", "sample", "shadow", "time",
                  "trace_id", "unreached", "upstream", "waits"));
  absl::Time time;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, line.Text("time"), &time, nullptr));
  // The start of the loop's turn stands for the call's: one may have begun before the call.
  EXPECT_GT(time, before);
  EXPECT_LT(time, absl::Now());
  EXPECT_EQ(line.Text("listener"), "egress");
  EXPECT_TRUE(line.IsNull("peer"));
  EXPECT_TRUE(line.IsNull("original_destination"));
  EXPECT_EQ(line.Text("upstream"), "shop");
  EXPECT_EQ(line.Text("authority"), "shop.test:50051");
  EXPECT_EQ(line.Text("method"), "test.Echo/Unary");
  EXPECT_EQ(line.Text("code"), "OK");
  EXPECT_EQ(line.Text("message"), "");
  EXPECT_TRUE(line.IsNull("refused"));
  EXPECT_TRUE(line.IsNull("unreached"));
  EXPECT_TRUE(line.List("marks").empty());
  EXPECT_EQ(line.Number("request_bytes"), 5 + 12);
  EXPECT_EQ(line.Number("response_bytes"), 5 + 12);
  EXPECT_EQ(line.Text("trace_id"), "4bf92f3577b34da6a3ce929d0e0e4736");

  const auto attempts = line.List("attempts");
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_THAT(attempts[0].members(), ElementsAre("code", "delay_ms", "duration_ms", "endpoint", "n",
                                                 "start_ms", "trigger"));
  EXPECT_EQ(attempts[0].Number("n"), 1);
  EXPECT_EQ(attempts[0].Text("endpoint"), run.service.address());
  EXPECT_EQ(attempts[0].Text("code"), "OK");
  EXPECT_TRUE(attempts[0].IsNull("trigger"));
  EXPECT_TRUE(attempts[0].IsNull("delay_ms"));
  EXPECT_GT(attempts[0].Number("duration_ms"), 0);
  EXPECT_GE(line.Number("duration_ms"),
            attempts[0].Number("start_ms") + attempts[0].Number("duration_ms"));
}

TEST(AccessLogOfARun, ListsTheAttemptsOfARetriedCall) {
  Logged run(FailFirst(2));
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("code"), "OK");
  EXPECT_TRUE(line.IsNull("refused"));
  const auto attempts = line.List("attempts");
  ASSERT_EQ(attempts.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(attempts[i].Number("n"), i + 1);
    EXPECT_EQ(attempts[i].Text("endpoint"), run.service.address());
    EXPECT_EQ(attempts[i].Text("code"), i < 2 ? "UNAVAILABLE" : "OK");
    if (i == 0) continue;
    EXPECT_EQ(attempts[i].Text("trigger"), "status");
    EXPECT_EQ(attempts[i].Number("delay_ms"), 2);
    EXPECT_GE(attempts[i].Number("start_ms"),
              attempts[i - 1].Number("start_ms") + attempts[i - 1].Number("duration_ms") + 1.9);
  }
}

TEST(AccessLogOfARun, SaysWhyRetryingStoppedAndWhatTheCallerWasTold) {
  Logged run(AlwaysFail(), {.retry = "{budget: {ratio: 0, floor: {per_second: 0}}}"});
  const Reply reply = CallUnary(run.channel);
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("code"), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(line.Text("message"), reply.status.error_message());
  EXPECT_EQ(line.Text("refused"), "budget");
  EXPECT_EQ(line.List("attempts").size(), 1u);
  const auto marks = line.List("marks");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].Text("direction"), "sent");
  EXPECT_EQ(marks[0].Text("scope"), "service");
  EXPECT_EQ(line.Number("response_bytes"), 0);
  EXPECT_TRUE(line.IsNull("trace_id"));
}

TEST(AccessLogOfARun, ListsMarksThatWereReceived) {
  Logged run([](const SeenCall&) {
    Answer answer = Fails(StatusCode::UNAVAILABLE);
    answer.trailers = {{"levee-overload", "service;reason=budget;upstream=x;hops=1"}};
    return answer;
  });
  CallUnary(run.channel);
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("refused"), "overload_mark");
  const auto marks = line.List("marks");
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].Text("direction"), "received");
  EXPECT_EQ(marks[1].Text("direction"), "sent");
}

TEST(AccessLogOfARun, HasTheMessageOfTheUpstreamDecoded) {
  Logged run([](const SeenCall&) { return Fails(StatusCode::INTERNAL, "100% \"k\xc3\xa4se\"\n"); });
  CallUnary(run.channel);
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("code"), "INTERNAL");
  EXPECT_EQ(line.Text("message"), "100% \"k\xc3\xa4se\"\n");
  EXPECT_TRUE(line.IsNull("refused"));
}

TEST(AccessLogOfARun, AHedgeIsAnAttempt) {
  Logged run(
      [](const SeenCall& call) {
        Answer answer;
        if (call.number == 1) answer.delay = kLongerThanAnyTest;
        return answer;
      },
      {.retry = "{budget: {ratio: 100}}",
       .policy = ", idempotency: {mode: always}, hedge: {delay: 20ms}",
       .more = LogOf("retried")});
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  const auto attempts = run.Line().List("attempts");
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].Text("code"), "CANCELLED");
  EXPECT_EQ(attempts[1].Text("code"), "OK");
  EXPECT_EQ(attempts[1].Text("trigger"), "hedge");
}

TEST(AccessLogOfARun, ACallThatItsCallerCancelsIsLoggedAtOnce) {
  Logged run(Healthy());
  ByteCall call(run.channel, "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(run.service.WaitFor([&] { return run.service.calls() == 1; }));
  call.context().TryCancel();
  call.Finish();
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("code"), "CANCELLED");
  EXPECT_EQ(line.Text("message"), "cancelled by the caller");
  EXPECT_EQ(line.List("attempts").at(0).Text("endpoint"), run.service.address());
}

TEST(AccessLogOfARun, ACallThatARateLimitRefusesHasNoAttempts) {
  Logged run(Healthy(),
             {.policy = ", rate_limit: [{name: slow, rate: 1/h}]", .more = LogOf("failed")});
  EXPECT_TRUE(CallUnary(run.channel).status.ok());
  EXPECT_FALSE(CallUnary(run.channel).status.ok());
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("upstream"), "shop");
  EXPECT_EQ(line.Text("code"), "RESOURCE_EXHAUSTED");
  EXPECT_THAT(line.Text("message"), HasSubstr("rate limit"));
  EXPECT_TRUE(line.List("attempts").empty());
}

TEST(AccessLogOfARun, ACallWithoutRouteHasNoUpstream) {
  Logged run(Healthy(), {.route = "match: {method: /other/*}, "});
  CallUnary(run.channel, "x", [](grpc::ClientContext& context) {
    context.set_authority("shop.test:50051");
    context.AddMetadata("traceparent", kTraceparent);
  });
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("listener"), "egress");
  EXPECT_EQ(line.Text("upstream"), "none");
  EXPECT_EQ(line.Text("authority"), "shop.test:50051");
  EXPECT_EQ(line.Text("method"), "test.Echo/Unary");
  EXPECT_EQ(line.Text("code"), "UNIMPLEMENTED");
  EXPECT_THAT(line.Text("message"), StartsWith("no route"));
  EXPECT_TRUE(line.List("attempts").empty());
  EXPECT_EQ(line.Text("trace_id"), "4bf92f3577b34da6a3ce929d0e0e4736");
}

TEST(AccessLogOfARun, ACallWithTooMuchMetadataIsLoggedAndWhatIsNoGrpcIsNot) {
  Logged run(Healthy());
  RawClient client(run.sidecar.address());
  client.AnswerTo(client.Open(
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "shop.test:50051"}},
      true));
  client.AnswerTo(client.Call({{"x-large", std::string(150'000, 'x')}}));
  const LogLine line = run.Line();
  EXPECT_EQ(line.Text("upstream"), "none");
  EXPECT_EQ(line.Text("code"), "RESOURCE_EXHAUSTED");
  EXPECT_THAT(line.Text("message"), HasSubstr("limits.metadata_bytes"));
}

TEST(AccessLogOfARun, InATunnelTheAuthorityIsItsDestination) {
  Logged run(Healthy());
  RawClient client(run.sidecar.address(), "", "cart.test:50051");
  client.AnswerTo(client.Call());
  EXPECT_EQ(run.Line().Text("authority"), "cart.test:50051");
}

TEST(AccessLogOfARun, ByDefaultOnlyRetriedAndFailedCallsAreIn) {
  Logged run(
      [](const SeenCall& call) {
        if (call.number == 2) return Fails(StatusCode::UNAVAILABLE);
        return call.number == 5 ? Fails(StatusCode::NOT_FOUND) : Answer();
      },
      {.retry = kLoggedRetry, .more = "access_log: {path: stdout}\n"});
  for (int i = 0; i < 4; ++i) CallUnary(run.channel);
  EXPECT_EQ(run.Line().List("attempts").size(), 2u);
  EXPECT_EQ(run.Line().Text("code"), "NOT_FOUND");
  EXPECT_TRUE(run.EndsWithoutLine());
}

TEST(AccessLogOfARun, ASampleOfZeroIsNothing) {
  Logged run(AlwaysFail(), {.more = "access_log: {path: stdout, when: [all], sample: 0}\n"});
  for (int i = 0; i < 20; ++i) CallUnary(run.channel);
  EXPECT_TRUE(run.EndsWithoutLine());
}

TEST(AccessLogOfARun, EachLineSaysWhichShareIsWritten) {
  Logged run(AlwaysFail(), {.more = "access_log: {path: stdout, when: [all], sample: 0.5}\n"});
  for (int i = 0; i < 60; ++i) CallUnary(run.channel);  // None of them is one in 10^18.
  EXPECT_EQ(run.Line().Number("sample"), 0.5);
}

TEST(AccessLogOfARun, WithoutPathThereIsNoLine) {
  Logged run(AlwaysFail(), {.more = "access_log: {when: [all]}\n"});
  CallUnary(run.channel);
  EXPECT_TRUE(run.EndsWithoutLine());
}

// A sidecar that writes its access log to a file.
class LogFile : public testing::Test {
 protected:
  static ConfigParts Parts(const FaultyService& service, const std::string& path) {
    return {.endpoints = {service.address()},
            .more = "access_log: {path: \"" + path + "\", when: [all]}\n"};
  }

  static int Lines(const std::string& path) {
    std::ifstream file(path);
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines) LogLine parsed(line);
    return lines;
  }

  static bool WaitForLines(const std::string& path, int lines) {
    return Eventually([&] { return Lines(path) == lines; });
  }

  FaultyService service_;
  TempFile log_{""};
};

TEST_F(LogFile, HasALineOfEveryCallWhenTheSidecarHasStopped) {
  SidecarProcess sidecar(Parts(service_, log_.path()), {"--workers", "2"});
  RunLoad({NewChannel(sidecar.address()), NewChannel(sidecar.address())}, {.calls = 400});
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  EXPECT_EQ(Lines(log_.path()), 400);
}

TEST_F(LogFile, IsMadeAnewAfterARotation) {
  SidecarProcess sidecar(Parts(service_, log_.path()));
  const ChannelPtr channel = NewChannel(sidecar.address());
  CallUnary(channel);
  ASSERT_TRUE(WaitForLines(log_.path(), 1));
  const TempFile rotated("");
  std::rename(log_.path().c_str(), rotated.path().c_str());
  CallUnary(channel);
  EXPECT_TRUE(WaitForLines(log_.path(), 1));
  EXPECT_EQ(Lines(rotated.path()), 1);
}

TEST_F(LogFile, AFullDiskLosesLinesAndNoCalls) {
  SidecarProcess sidecar(Parts(service_, "/dev/full"));
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(sidecar.WaitForSum("levee_limit_hits_total", {R"(limit="access_log")"}, 5));
  const std::string errors = ErrorsWith(sidecar, "cannot write /dev/full");
  const size_t first = errors.find("cannot write /dev/full: No space left on device");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(errors.find("/dev/full", first + 20), std::string::npos) << errors;
}

TEST_F(LogFile, AFileThatCannotBeOpenedIsAnErrorThatNamesTheField) {
  const TempFile config(
      "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\naccess_log: {path: "
      "/no/such/log}\n");
  const Ended ended = RunToEnd(LEVEE_BINARY, {"run", "--config", config.path()});
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(ended.errors,
              HasSubstr("access log: cannot open /no/such/log: No such file or directory (set at " +
                        config.path() + ":3:20: access_log.path)"));
}

Setup WithMetadata(const std::string& name, const std::string& value) {
  return [name, value](grpc::ClientContext& context) { context.AddMetadata(name, value); };
}

TEST(TraceContext, EachAttemptIsASpanOfItsOwnInTheCallersTrace) {
  Logged run(FailFirst(2));
  CallUnary(run.channel, "x", WithMetadata("traceparent", kTraceparent));
  const std::vector<std::string> seen = Traceparents(run.service);
  ASSERT_EQ(seen.size(), 3u);
  std::set<std::string> spans = {"00f067aa0ba902b7"};
  for (const std::string& value : seen) {
    ASSERT_EQ(value.size(), 55u) << value;
    EXPECT_EQ(value.substr(0, 36), "00-4bf92f3577b34da6a3ce929d0e0e4736-");
    EXPECT_EQ(value.substr(52), "-01");
    spans.insert(value.substr(36, 16));
  }
  EXPECT_EQ(spans.size(), 4u);
}

TEST(TraceContext, TheTraceStateIsPassedOn) {
  Logged run(Healthy());
  CallUnary(run.channel, "x", [](grpc::ClientContext& context) {
    context.AddMetadata("traceparent", kTraceparent);
    context.AddMetadata("tracestate", "vendor=00f067aa0ba902b7");
  });
  EXPECT_EQ(Values(run.service.seen().at(0).metadata, "tracestate"), "vendor=00f067aa0ba902b7");
}

TEST(TraceContext, WhatIsInvalidIsPassedOnUntouched) {
  Logged run(Healthy());
  const std::string invalid = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
  CallUnary(run.channel, "x", WithMetadata("traceparent", invalid));
  EXPECT_THAT(Traceparents(run.service), ElementsAre(invalid));
  EXPECT_TRUE(run.Line().IsNull("trace_id"));
}

TEST(TraceContext, NoneIsMadeUp) {
  Logged run(Healthy());
  CallUnary(run.channel);
  EXPECT_THAT(Traceparents(run.service), ElementsAre(""));
}

}  // namespace
}  // namespace levee
