// SPDX-License-Identifier: Apache-2.0
// Replays of access logs. The logs are written by the product's formatter, of calls that ran on
// virtual time.
#include "lab/replay.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "insight/access_log.h"
#include "lab/parsed_policy.h"
#include "lab/recorded_calls.h"
#include "lab/replay_text.h"
#include "sim/services.h"
#include "sim/workload.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr char kDefault[] = "policies: [{name: default}]\n";
constexpr char kPlain[] =
    "policies: [{name: default, throttle: none, retry: {max_attempts: 4, backoff: {constant: "
    "1ms},\n"
    "  app_retries_loops: ignore,\n"
    "  budget: {ratio: 1, window: 1s, floor: {per_second: 1000}, burst: {least: 100000}, wait: "
    "none}}}]\n";

std::string EndpointName(int64_t endpoint) { return absl::StrCat("10.0.0.", endpoint, ":80"); }

// The calls of a log.
struct Made {
  double failing = 0;  // the share that the second of two endpoints fails
  int64_t calls = 1000;
  double first_failing = 0;  // the same of the first one
  double per_second = 100;
  double sample = 1;  // the share of the calls that is logged
};

// The access log of calls of a sidecar with the policy `text`.
std::string LogOf(const std::string& text, const Made& made) {
  SimClock clock;
  SimSidecar sidecar(clock, ParsedPolicy(text)->policies.front(), 7);
  sidecar.KeepCalls();
  sidecar.AddEndpoint(Flaky(made.first_failing, 1));
  sidecar.AddEndpoint(Flaky(made.failing, 2));
  RunWorkload(sidecar, {.per_second = made.per_second, .calls = made.calls, .poisson_seed = 5});
  AccessLogFormatter formatter;
  Random random(3);
  std::string log;
  for (const SimHost& host : sidecar.calls()) {
    if (random.Uniform() >= made.sample) continue;
    const CallRecord& record = host.record();
    const AccessLogFacts facts{
        .start = absl::FromUnixSeconds(1000) + (record.start - SimClock::Start()),
        .listener = "egress",
        .upstream = "default",
        .authority = "cart:80",
        .path = "/shop.Cart/Add",
        .request_bytes = 20,
        .sample = made.sample};
    log += formatter.Format(facts, record, EndpointName);
  }
  return log;
}

std::vector<RecordedCall> Read(const std::string& log) {
  const auto calls = ReadRecordedCalls({{"log", log}});
  EXPECT_TRUE(calls.ok()) << calls.status();
  return calls.ok() ? *calls : std::vector<RecordedCall>();
}

Replay ReplayOf(const std::string& log, const std::string& policy) {
  const auto replay = ReplayCalls(Read(log), {{"p.yaml", ParsedPolicy(policy)}}, 1);
  EXPECT_TRUE(replay.ok()) << replay.status();
  return *replay;
}

std::string ReasonOf(const std::string& log) {
  return std::string(ReadRecordedCalls({{"log", log}}).status().message());
}

TEST(Replay, CallsTakeTheRoutesOfTheirCallers) {
  const std::string log = LogOf(kDefault, {.calls = 100});
  const auto routed = [](const std::string& text) {
    Route of_shop;
    of_shop.peer = "spiffe://shop/*";
    Route rest;
    Snapshot snapshot;
    snapshot.listeners.resize(1);
    snapshot.routes = RouteTable({of_shop, rest});
    return RouteOf(Read(text).at(0), snapshot) - snapshot.routes.routes().data();
  };
  EXPECT_EQ(routed(log), 1);
  EXPECT_EQ(routed(absl::StrReplaceAll(log, {{R"("peer":null)", R"("peer":"spiffe://shop/web")"}})),
            0);
}

TEST(Replay, L5_TheSamePolicyMakesTheRecordedDecisionsAtEachLoad) {
  for (const double per_second : {2.0, 20.0, 100.0, 1000.0}) {
    SCOPED_TRACE(per_second);
    const Replay replay = ReplayOf(
        LogOf(kDefault,
              {.failing = 0.03, .calls = 20000, .first_failing = 0.03, .per_second = per_second}),
        kDefault);
    EXPECT_EQ(replay.recorded.calls, 20000);
    EXPECT_EQ(replay.sample, 1);
    EXPECT_GT(replay.recorded.amplification(), 1.01);
    EXPECT_GE(replay.replayed[0].same_share, 0.999);
    EXPECT_LE(replay.replayed[0].drawn_share, 0.001);
  }
}

TEST(Replay, L5_ARecordedRetryStormIsNoneUnderTheDefaultAtEachLoad) {
  for (const double per_second : {20.0, 100.0, 1000.0}) {
    SCOPED_TRACE(per_second);
    const Replay replay = ReplayOf(
        LogOf(kPlain,
              {.failing = 0.6, .calls = 10000, .first_failing = 0.6, .per_second = per_second}),
        kDefault);
    EXPECT_GT(replay.recorded.amplification(), 1.85);
    EXPECT_LE(replay.replayed[0].figures.amplification(), 1.1);
  }
}

// The floor of a budget and its credit mean another share of retries at another load.
TEST(Replay, ATenthOfTheCallsSaysWhatAllOfThemSay) {
  const Made all = {.failing = 0.5, .calls = 20000, .first_failing = 0.5};
  Made tenth = all;
  tenth.sample = 0.1;
  const Replay whole = ReplayOf(LogOf(kPlain, all), kDefault);
  const Replay sampled = ReplayOf(LogOf(kPlain, tenth), kDefault);
  EXPECT_NEAR(sampled.sample, 0.1, 1e-6);
  EXPECT_NEAR(static_cast<double>(sampled.recorded.calls), 20000, 1000);
  EXPECT_NEAR(sampled.recorded.amplification(), whole.recorded.amplification(), 0.05);
  const ReplayFigures& estimated = sampled.replayed[0].figures;
  const ReplayFigures& known = whole.replayed[0].figures;
  EXPECT_NEAR(estimated.amplification(), known.amplification(), 0.01);
  EXPECT_NEAR(estimated.success(), known.success(), 0.03);
  EXPECT_THAT(ReplayText(sampled), HasSubstr("The log has 10% of the calls: each stands for"));
  EXPECT_THAT(ReplayText(whole), testing::Not(HasSubstr("The log has")));
  EXPECT_THAT(ReplayJson(sampled), ContainsRegex("\"sample\": 0\\.1"));
}

// Without retries the log knows nothing of second attempts: all of them are drawn.
TEST(Replay, AttemptsThatTheLogDoesNotHaveAreDrawnAndTheirShareIsSaid) {
  const std::string log = LogOf("policies: [{name: default, retry: {max_attempts: 1}}]\n",
                                {.failing = 0.05, .calls = 10000, .first_failing = 0.05});
  const Replay replay = ReplayOf(log, kPlain);
  EXPECT_EQ(replay.recorded.amplification(), 1);
  const ReplayedPolicy& policy = replay.replayed[0];
  EXPECT_NEAR(policy.drawn_share, 0.05, 0.01);
  EXPECT_GT(policy.figures.success(), 0.998);
  EXPECT_THAT(ReplayText(replay),
              AllOf(ContainsRegex("and [0-9]+ more[ \n]+calls would have succeeded"),
                    HasSubstr("of its attempts are not in the log")));
}

// One endpoint fails always, and the other one never. A retry goes to the other one than in the
// log.
TEST(Replay, RecordedAttemptsStayOnTheirEndpoints) {
  std::vector<RecordedCall> calls;
  for (int i = 0; i < 200; ++i) {
    RecordedCall& call = calls.emplace_back();
    call.at = absl::FromUnixSeconds(1000) + absl::Milliseconds(100 * i);
    call.authority = "cart:80";
    call.path = "/shop.Cart/Add";
    call.code = i % 2 == 0 ? StatusCode::kOk : StatusCode::kUnavailable;
    call.attempts.push_back(
        {.endpoint = EndpointName(i % 2), .took = absl::Milliseconds(5), .code = call.code});
  }
  const auto replay = ReplayCalls(calls, {{"p.yaml", ParsedPolicy(kPlain)}}, 1);
  EXPECT_EQ(replay->replayed[0].figures.good, 200);
  EXPECT_EQ(replay->replayed[0].figures.rescued, 100);
}

TEST(Replay, APolicyWithoutRetriesSendsEachCallOnce) {
  const Replay replay = ReplayOf(LogOf(kPlain, {.failing = 0.5, .calls = 2000}),
                                 "policies: [{name: default, retry: {max_attempts: 1}}]\n");
  EXPECT_EQ(replay.replayed[0].figures.amplification(), 1);
  EXPECT_EQ(replay.replayed[0].drawn_share, 0);
  EXPECT_EQ(replay.replayed[0].figures.rescued, 0);
}

TEST(Replay, FitsATerminalOf80Columns) {
  const std::string log = LogOf(kPlain, {.failing = 0.5, .calls = 500});
  const auto replay =
      ReplayCalls(Read(log), {{"config/examples/of-some-length.yaml", ParsedPolicy(kDefault)}}, 1);
  for (const auto line : absl::StrSplit(ReplayText(*replay), '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(Replay, OneCallIsCountedAsOne) {
  const Replay replay = ReplayOf(LogOf(kPlain, {.failing = 0, .calls = 1}), kDefault);
  EXPECT_THAT(ReplayText(replay), testing::StartsWith("levee replay: 1 call\n"));
  EXPECT_THAT(ReplayHtml(replay), HasSubstr("<p>1 call</p>"));
}

TEST(Replay, TheSameSeedGivesTheSameBytes) {
  const std::string log = LogOf(kPlain, {.failing = 0.3, .calls = 1000});
  EXPECT_EQ(ReplayJson(ReplayOf(log, kDefault)), ReplayJson(ReplayOf(log, kDefault)));
}

TEST(Replay, ALogThatCannotCarryItIsRefusedWithTheReason) {
  const std::string log = LogOf(kPlain, {.failing = 1, .calls = 200});
  EXPECT_THAT(ReasonOf(""), HasSubstr("has no call"));
  EXPECT_THAT(ReasonOf(log.substr(0, log.size() - 9)),
              HasSubstr("log:200: is no line of an access log"));
  EXPECT_THAT(ReasonOf(R"({"time": "2026-01-01T00:00:00Z", "code": "OK", "sample": 0})"),
              HasSubstr("its sample is no share of calls"));
  EXPECT_THAT(ReasonOf("{}\n"), HasSubstr("log:1: is no line of an access log: it has no time"));
  std::string retried;
  for (const RecordedCall& call : Read(log)) {
    if (call.attempts.size() == 1) continue;
    absl::StrAppend(
        &retried, "{\"time\": \"",
        absl::FormatTime(absl::RFC3339_full, call.at, absl::UTCTimeZone()),
        "\", \"code\": \"OK\", \"attempts\": [{\"code\": \"UNAVAILABLE\"}, {\"code\": \"OK\"}]}\n");
  }
  EXPECT_THAT(ReasonOf(retried), HasSubstr("say access_log: {when: [all]}"));
  EXPECT_THAT(ReasonOf("{\"time\": \"2026-01-01T00:00:00Z\", \"code\": \"OK\"}\n"),
              HasSubstr("has attempts"));
}

TEST(Replay, ASampleOfMoreCallsThanFitIsRefused) {
  std::vector<RecordedCall> calls(30);
  for (RecordedCall& call : calls) call.sample = 1e-6;
  EXPECT_THAT(std::string(ReplayCalls(calls, {}, 1).status().message()),
              HasSubstr("stands for 30000000 calls, and a replay takes 20000000"));
}

TEST(Replay, AGapIsNamed) {
  std::string log = LogOf(kPlain, {.failing = 0, .calls = 2000});
  absl::StrAppend(&log, "{\"time\": \"1970-01-01T01:00:00Z\", \"code\": \"OK\"}\n");
  EXPECT_THAT(ReasonOf(log), HasSubstr("the log has a gap of "));
}

TEST(Replay, ACallWithoutRouteIsNamed) {
  const auto replay = ReplayCalls(
      Read(LogOf(kPlain, {.failing = 0, .calls = 10})),
      {{"p.yaml", ParsedPolicy("upstreams: [{name: u, endpoints: ['dns:a:1']}]\n"
                               "routes: [{match: {method: /other/*}, upstream: u}]\n")}},
      1);
  EXPECT_THAT(std::string(replay.status().message()),
              HasSubstr("p.yaml has no route for authority \"cart:80\""));
}

}  // namespace
}  // namespace levee
