// SPDX-License-Identifier: Apache-2.0
// Lines of the access log, character by character.
#include "insight/access_log.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

Instant AtMicros(int64_t micros) { return Instant::FromNanos(micros * 1000); }

std::string Name(int64_t endpoint) { return "10.0.0." + std::to_string(endpoint) + ":50051"; }

AccessLogFacts FactsOfACall() {
  return {.start = absl::FromUnixMicros(1'700'000'000'012'345),
          .listener = "egress",
          .upstream = "cart",
          .authority = "cart.shop:50051",
          .path = "/shop.Cart/Add",
          .message = "",
          .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
          .request_bytes = 105,
          .response_bytes = 4'000'000'007,
          .sample = 0.25};
}

CallRecord CallOf(StatusCode code, int64_t start, int64_t end) {
  CallRecord record;
  record.start = AtMicros(start);
  record.end = AtMicros(end);
  record.code = code;
  return record;
}

AttemptRecord Attempt(int64_t endpoint, StatusCode code, int64_t start, int64_t end) {
  return {.start = AtMicros(start), .end = AtMicros(end), .endpoint = endpoint, .code = code};
}

std::string Line(const AccessLogFacts& facts, const CallRecord& record) {
  AccessLogFormatter formatter;
  return std::string(formatter.Format(facts, record, Name));
}

// The part of a line from one member up to another.
std::string Between(const std::string& line, const std::string& from, const std::string& to) {
  const size_t begin = line.find("\"" + from + "\"");
  return line.substr(begin, line.find(",\"" + to + "\"") - begin);
}

TEST(AccessLog, ACallThatSucceedsAtOnce) {
  CallRecord record = CallOf(StatusCode::kOk, 500, 3'567);
  record.attempts.push_back(Attempt(7, StatusCode::kOk, 500, 3'560));
  EXPECT_EQ(
      Line(FactsOfACall(), record),
      R"({"time":"2023-11-14T22:13:20.012345Z","duration_ms":3.067,"listener":"egress",)"
      R"("peer":null,"original_destination":null,"upstream":"cart","authority":"cart.shop:50051","method":"shop.Cart/Add",)"
      R"("kind":"unary","code":"OK","message":"","attempts":[{"n":1,"endpoint":"10.0.0.7:50051",)"
      R"("start_ms":0.000,"duration_ms":3.060,"code":"OK","trigger":null,"delay_ms":null}],)"
      R"("unreached":null,"refused":null,"ended_by":null,"waits":[],"marks":[],"guard":null,"dedupe":null,"shadow":null,"request_bytes":105,"response_bytes":4000000007,)"
      R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","sample":0.25})"
      "\n");
}

TEST(AccessLog, ACallThatIsRetriedUntilTheBudgetRefuses) {
  CallRecord record = CallOf(StatusCode::kResourceExhausted, 0, 46'000);
  record.attempts.push_back(Attempt(7, StatusCode::kUnavailable, 10, 1'010));
  record.attempts.push_back(Attempt(8, StatusCode::kUnavailable, 26'020, 46'000));
  record.attempts[1].trigger = RetryTrigger::kStatus;
  record.attempts[1].delay = absl::Microseconds(24'500);
  record.refused = RefusalReason::kBudget;
  record.mark_sent = OverloadScope::kService;
  AccessLogFacts facts = FactsOfACall();
  facts.message = "overloaded, do not retry";
  facts.trace_id = "";
  EXPECT_EQ(
      Line(facts, record),
      R"({"time":"2023-11-14T22:13:20.012345Z","duration_ms":46.000,"listener":"egress",)"
      R"("peer":null,"original_destination":null,"upstream":"cart","authority":"cart.shop:50051","method":"shop.Cart/Add",)"
      R"("kind":"unary","code":"RESOURCE_EXHAUSTED","message":"overloaded, do not retry","attempts":[)"
      R"({"n":1,"endpoint":"10.0.0.7:50051","start_ms":0.010,"duration_ms":1.000,)"
      R"("code":"UNAVAILABLE","trigger":null,"delay_ms":null},)"
      R"({"n":2,"endpoint":"10.0.0.8:50051","start_ms":26.020,"duration_ms":19.980,)"
      R"("code":"UNAVAILABLE","trigger":"status","delay_ms":24.500}],)"
      R"("unreached":null,"refused":"budget","ended_by":null,"waits":[],"marks":[{"direction":"sent","scope":"service"}],)"
      R"("guard":null,"dedupe":null,"shadow":null,"request_bytes":105,"response_bytes":4000000007,"trace_id":null,"sample":0.25})"
      "\n");
}

TEST(AccessLog, EachWaitForASuccessIsThereWithItsLengthAndItsEnd) {
  CallRecord record = CallOf(StatusCode::kUnavailable, 0, 10);
  record.waits = {{.after = 1, .end = WaitEnd::kReleased, .waited = absl::Milliseconds(150)},
                  {.after = 2, .end = WaitEnd::kDeadline, .waited = absl::Microseconds(1'900'500)}};
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "waits", "marks"),
            R"("waits":[{"after":1,"waited_ms":150.000,"end":"released"},)"
            R"({"after":2,"waited_ms":1900.500,"end":"deadline"}])");
}

TEST(AccessLog, ACallWithoutAttemptsHasNone) {
  EXPECT_EQ(Between(Line(FactsOfACall(), CallOf(StatusCode::kUnimplemented, 0, 0)), "attempts",
                    "unreached"),
            R"("attempts":[])");
}

TEST(AccessLog, AnAttemptThatReachedNoEndpointNamesNone) {
  CallRecord record = CallOf(StatusCode::kUnavailable, 0, 10);
  record.attempts.push_back(Attempt(-1, StatusCode::kUnavailable, 0, 10));
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "endpoint", "start_ms"), R"("endpoint":null)");
}

TEST(AccessLog, TheEndpointsThatCouldNotBeReachedAreNamed) {
  AccessLogFacts facts = FactsOfACall();
  facts.unreached = {"10.0.0.7:50051", "shop\".test:1"};
  EXPECT_EQ(Between(Line(facts, CallOf(StatusCode::kUnavailable, 0, 10)), "unreached", "refused"),
            R"("unreached":["10.0.0.7:50051","shop\".test:1"])");
}

TEST(AccessLog, EndpointsCountFromZero) {
  CallRecord record = CallOf(StatusCode::kOk, 0, 10);
  record.attempts.push_back(Attempt(0, StatusCode::kOk, 0, 10));
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "endpoint", "start_ms"),
            R"("endpoint":"10.0.0.0:50051")");
}

TEST(AccessLog, AnEndpointThatNobodyKnowsAnyMoreIsNotNamed) {
  CallRecord record = CallOf(StatusCode::kOk, 0, 10);
  record.attempts.push_back(Attempt(7, StatusCode::kOk, 0, 10));
  AccessLogFormatter formatter;
  const std::string line(
      formatter.Format(FactsOfACall(), record, [](int64_t) { return std::string(); }));
  EXPECT_EQ(Between(line, "endpoint", "start_ms"), R"("endpoint":null)");
}

TEST(AccessLog, AnImmediateRetryHasADelayOfZero) {
  CallRecord record = CallOf(StatusCode::kOk, 0, 10);
  record.attempts.push_back(Attempt(1, StatusCode::kOk, 0, 10));
  record.attempts[0].trigger = RetryTrigger::kRefused;
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "trigger", "unreached"),
            R"("trigger":"refused","delay_ms":0.000}])");
}

TEST(AccessLog, TellsWhatTheGuardDid) {
  CallRecord record = CallOf(StatusCode::kResourceExhausted, 0, 5);
  record.guard = {.decision = GuardDecision::kRefused,
                  .reason = GuardReason::kQueue,
                  .priority = 100,
                  .waited = absl::Microseconds(4321)};
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "guard", "dedupe"),
            R"("guard":{"decision":"refused","reason":"queue","priority":100,"waited_ms":4.321})");
  record.guard = {.decision = GuardDecision::kAdmitted, .priority = 64};
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "guard", "dedupe"),
            R"("guard":{"decision":"admitted","reason":null,"priority":64,"waited_ms":0.000})");
}

TEST(AccessLog, TellsWhatAShadowPolicyWouldHaveDone) {
  CallRecord record;
  record.shadow = ShadowOutcome::kMore;
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "shadow", "request_bytes"), R"("shadow":"more")");
}

TEST(AccessLog, TellsWhatBecameOfACallByItsIdempotencyKey) {
  CallRecord record;
  record.dedupe = DedupeResult::kReplayed;
  EXPECT_EQ(Between(Line(FactsOfACall(), record), "dedupe", "shadow"), R"("dedupe":"replayed")");
}

TEST(AccessLog, MarksAreThoseReceivedAndTheOneSent) {
  CallRecord record = CallOf(StatusCode::kUnavailable, 0, 10);
  record.attempts.resize(3);
  record.attempts[0].mark_received = OverloadScope::kEndpoint;
  record.attempts[2].mark_received = OverloadScope::kService;
  record.mark_sent = OverloadScope::kService;
  EXPECT_EQ(
      Between(Line(FactsOfACall(), record), "marks", "guard"),
      R"("marks":[{"direction":"received","scope":"endpoint"},)"
      R"({"direction":"received","scope":"service"},{"direction":"sent","scope":"service"}])");
}

TEST(AccessLog, WhatOthersSaidIsEscaped) {
  AccessLogFacts facts = FactsOfACall();
  facts.listener = "a\"b";
  facts.peer = "CN=c\td";
  facts.original_destination = "[::1]:9";
  facts.authority = "shop\xff";
  facts.path = "/a\\b/\n";
  facts.message = "line\nbreak \"quoted\"";
  const std::string line = Line(facts, CallOf(StatusCode::kInternal, 0, 0));
  EXPECT_EQ(Between(line, "listener", "upstream"),
            R"("listener":"a\"b","peer":"CN=c\td","original_destination":"[::1]:9")");
  EXPECT_EQ(Between(line, "authority", "method"), "\"authority\":\"shop\xef\xbf\xbd\"");
  EXPECT_EQ(Between(line, "method", "kind"), R"("method":"a\\b/\n")");
  EXPECT_EQ(Between(line, "message", "attempts"), R"("message":"line\nbreak \"quoted\"")");
}

TEST(AccessLog, APathWithoutSlashStaysAsItIs) {
  AccessLogFacts facts = FactsOfACall();
  facts.path = "";
  EXPECT_EQ(Between(Line(facts, CallOf(StatusCode::kInternal, 0, 0)), "method", "kind"),
            R"("method":"")");
}

TEST(AccessLog, TimesOfDifferentSecondsAreToldApart) {
  AccessLogFormatter formatter;
  const auto time = [&](int64_t micros) {
    AccessLogFacts facts = FactsOfACall();
    facts.start = absl::FromUnixMicros(micros);
    return std::string(formatter.Format(facts, CallRecord(), Name)).substr(0, 37);
  };
  EXPECT_EQ(time(1'700'000'000'999'999), R"({"time":"2023-11-14T22:13:20.999999Z")");
  EXPECT_EQ(time(1'700'000'000'000'001), R"({"time":"2023-11-14T22:13:20.000001Z")");
  EXPECT_EQ(time(1'700'000'001'000'000), R"({"time":"2023-11-14T22:13:21.000000Z")");
  EXPECT_EQ(time(1'700'000'000'000'000), R"({"time":"2023-11-14T22:13:20.000000Z")");
}

TEST(AccessLog, AClockThatRanBackwardsMakesNoNegativeTimes) {
  EXPECT_EQ(
      Between(Line(FactsOfACall(), CallOf(StatusCode::kOk, 10, 0)), "duration_ms", "listener"),
      R"("duration_ms":0.000)");
}

TEST(AccessLog, EachLineStartsAnew) {
  AccessLogFormatter formatter;
  const CallRecord record = CallOf(StatusCode::kOk, 0, 0);
  const std::string first(formatter.Format(FactsOfACall(), record, Name));
  EXPECT_EQ(formatter.Format(FactsOfACall(), record, Name), first);
}

}  // namespace
}  // namespace levee
