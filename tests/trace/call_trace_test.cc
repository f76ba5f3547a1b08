// SPDX-License-Identifier: Apache-2.0
// The ids of a call's spans, which calls have some, and what they say.
#include "trace/call_trace.h"

#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr TraceId kId = {.high = 0x4bf92f3577b34da6, .low = 0xa3ce929d0e0e4736};
constexpr Traceparent kCaller = {.trace_id = kId, .parent_id = 0xf067aa0ba902b7, .sampled = true};

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Instant At(int ms) { return Instant() + absl::Milliseconds(ms); }

AttemptRecord Attempt(int start_ms, int end_ms, StatusCode code, int64_t endpoint = 7) {
  AttemptRecord attempt;
  attempt.start = At(start_ms);
  attempt.end = At(end_ms);
  attempt.code = code;
  attempt.endpoint = endpoint;
  return attempt;
}

// A call from 100 ms to 200 ms.
CallRecord Call(StatusCode code, std::initializer_list<AttemptRecord> attempts) {
  CallRecord record;
  record.start = At(100);
  record.end = At(200);
  record.code = code;
  for (const AttemptRecord& attempt : attempts) record.attempts.push_back(attempt);
  return record;
}

CallRecord Ok() { return Call(StatusCode::kOk, {Attempt(101, 199, StatusCode::kOk)}); }

CallRecord Retried() {
  CallRecord record = Call(StatusCode::kOk, {Attempt(110, 120, StatusCode::kUnavailable, -1),
                                             Attempt(150, 190, StatusCode::kOk)});
  record.attempts[1].trigger = RetryTrigger::kConnect;
  record.attempts[1].delay = absl::Milliseconds(30);
  return record;
}

std::optional<CallSpans> End(const CallTrace& trace, const CallRecord& record,
                             const TracedCall& call = {}) {
  return trace.End(
      call, record, [](int64_t endpoint) { return "endpoint " + std::to_string(endpoint); }, kNow);
}

TEST(CallTrace, TheCallersFlagDecides) {
  Random random(1);
  EXPECT_EQ(CallTrace::Follow({.trace_id = kId, .parent_id = 1, .sampled = false}, random),
            nullptr);
  const auto trace = CallTrace::Follow(kCaller, random);
  ASSERT_NE(trace, nullptr);
  const auto spans = End(*trace, Ok());
  ASSERT_TRUE(spans.has_value());
  EXPECT_EQ(spans->trace_id, kId);
  EXPECT_EQ(spans->parent_id, kCaller.parent_id);
}

TEST(CallTrace, WithoutACallersTraceCallsThatWereRetriedOrFailedHaveSpans) {
  Random random(1);
  const auto trace = CallTrace::Begin(kId, /*sample=*/0, random);
  EXPECT_FALSE(End(*trace, Ok()).has_value());
  EXPECT_TRUE(End(*trace, Retried()).has_value());
  EXPECT_TRUE(End(*trace, Call(StatusCode::kNotFound, {Attempt(101, 199, StatusCode::kNotFound)}))
                  .has_value());
  const auto unsent = End(*trace, Call(StatusCode::kResourceExhausted, {}));
  ASSERT_TRUE(unsent.has_value());
  EXPECT_EQ(unsent->count(), 1);
  EXPECT_EQ(unsent->parent_id, 0u);
}

TEST(CallTrace, WithoutACallersTraceAShareOfTheOthersHasSpans) {
  Random random(1);
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto trace = CallTrace::Begin(NewTraceId(random), 0.1, random);
    if (End(*trace, Ok()).has_value()) ++sampled;
  }
  EXPECT_NEAR(sampled, 1000, 100);
}

TEST(CallTrace, TheShareIsThatOfTheTraceIdsRandomPart) {
  const TraceId least = {.high = ~uint64_t{0}, .low = 0xff00000000000000};
  const TraceId middle = {.high = 0, .low = 0x0080000000000000};
  const TraceId most = {.high = 0, .low = 0x00ffffffffffffff};
  EXPECT_FALSE(IsSampled(most, 0));
  EXPECT_TRUE(IsSampled(most, 1e-9));
  EXPECT_FALSE(IsSampled(middle, 0.499));
  EXPECT_TRUE(IsSampled(middle, 0.5));
  EXPECT_FALSE(IsSampled(least, 0.999));
  EXPECT_TRUE(IsSampled(least, 1));
}

TEST(CallTrace, EachAttemptLeavesWithTheIdOfItsSpan) {
  Random random(1);
  const auto trace = CallTrace::Begin(kId, /*sample=*/0, random);
  const auto spans = End(*trace, Retried());
  ASSERT_TRUE(spans.has_value());
  for (const uint32_t record : {0u, 1u}) {
    const auto sent = ParseTraceparent(trace->AttemptTraceparent(record));
    ASSERT_TRUE(sent.has_value());
    EXPECT_EQ(sent->trace_id, kId);
    EXPECT_EQ(sent->parent_id, spans->attempts[record].id);
    EXPECT_EQ(sent->parent_id, trace->AttemptSpanId(record));
  }
}

TEST(CallTrace, AnAttemptSaysThatItsTraceIsSampledOnceThatIsKnown) {
  Random random(1);
  const auto trace = CallTrace::Begin(kId, /*sample=*/0, random);
  EXPECT_FALSE(ParseTraceparent(trace->AttemptTraceparent(0))->sampled);
  EXPECT_TRUE(ParseTraceparent(trace->AttemptTraceparent(1))->sampled);
  const auto sampled = CallTrace::Begin(kId, /*sample=*/1, random);
  EXPECT_TRUE(ParseTraceparent(sampled->AttemptTraceparent(0))->sampled);
}

TEST(CallTrace, TheIdsOfSpansDiffer) {
  Random random(1);
  std::set<uint64_t> ids;
  for (int call = 0; call < 100; ++call) {
    const auto trace = CallTrace::Follow(kCaller, random);
    ids.insert(End(*trace, Ok())->id);
    for (uint32_t record = 0; record < 100; ++record) ids.insert(trace->AttemptSpanId(record));
  }
  EXPECT_EQ(ids.size(), 100u * 101u);
  EXPECT_FALSE(ids.contains(0));
}

TEST(CallTrace, TimesAreThoseOfTheWallClockAtTheEnd) {
  Random random(1);
  const auto spans = End(*CallTrace::Follow(kCaller, random), Retried());
  EXPECT_EQ(spans->end, kNow);
  EXPECT_EQ(spans->start, kNow - absl::Milliseconds(100));
  EXPECT_EQ(spans->attempts[0].start, kNow - absl::Milliseconds(90));
  EXPECT_EQ(spans->attempts[0].end, kNow - absl::Milliseconds(80));
  EXPECT_EQ(spans->attempts[1].start, kNow - absl::Milliseconds(50));
  EXPECT_EQ(spans->attempts[1].end, kNow - absl::Milliseconds(10));
}

TEST(CallTrace, AnAttemptThatNeverEndedEndsAsItBegan) {
  Random random(1);
  CallRecord record = Call(StatusCode::kCancelled, {Attempt(150, 0, StatusCode::kUnknown, -1)});
  const auto spans = End(*CallTrace::Follow(kCaller, random), record);
  EXPECT_EQ(spans->attempts[0].end, spans->attempts[0].start);
}

TEST(CallTrace, AttemptsSayWhyAndWhereTheyRan) {
  Random random(1);
  const auto spans = End(*CallTrace::Follow(kCaller, random), Retried());
  EXPECT_EQ(spans->attempts[0].endpoint, "");
  EXPECT_FALSE(spans->attempts[0].trigger.has_value());
  EXPECT_EQ(spans->attempts[1].endpoint, "endpoint 7");
  EXPECT_EQ(spans->attempts[1].trigger, RetryTrigger::kConnect);
  EXPECT_EQ(spans->attempts[1].delay, absl::Milliseconds(30));
}

TEST(CallTrace, AnAttemptGivenUpForAnotherHasNotFailed) {
  Random random(1);
  const auto trace = CallTrace::Follow(kCaller, random);
  const auto hedged = End(*trace, Call(StatusCode::kOk, {Attempt(100, 200, StatusCode::kCancelled),
                                                         Attempt(120, 200, StatusCode::kOk)}));
  EXPECT_TRUE(hedged->attempts[0].given_up);
  EXPECT_FALSE(hedged->attempts[1].given_up);
  const auto cancelled =
      End(*trace, Call(StatusCode::kCancelled, {Attempt(100, 200, StatusCode::kCancelled)}));
  EXPECT_FALSE(cancelled->attempts[0].given_up);
}

TEST(CallTrace, TheCallSaysWhyItWasRefused) {
  Random random(1);
  const auto trace = CallTrace::Follow(kCaller, random);
  CallRecord record = Call(StatusCode::kResourceExhausted, {});
  EXPECT_EQ(End(*trace, record)->refused, "");
  record.refused = RefusalReason::kBudget;
  EXPECT_EQ(End(*trace, record)->refused, "budget");
  record.guard.decision = GuardDecision::kRefused;
  record.guard.reason = GuardReason::kQueue;
  EXPECT_EQ(End(*trace, record)->refused, "queue");
  record.rate_limit.refused_by = 0;
  EXPECT_EQ(End(*trace, record)->refused, "rate_limit");
}

TEST(CallTrace, TextsAreBoundedAndWellFormed) {
  Random random(1);
  const auto trace = CallTrace::Follow(kCaller, random);
  const std::string longest(1000, 'a');
  const std::string umlauts = "b" + std::string(600, '\xc3');
  CallRecord failed = Call(StatusCode::kInternal, {});
  const auto spans = End(
      *trace, failed, {.path = "/" + longest, .authority = "caf\xc3\xa9\xff", .message = umlauts});
  EXPECT_EQ(spans->method, std::string(512, 'a'));
  EXPECT_EQ(spans->authority, "caf\xc3\xa9?");
  EXPECT_EQ(spans->message, "b" + std::string(511, '?'));
}

TEST(CallTrace, AMessageIsThatOfAFailure) {
  Random random(1);
  const auto trace = CallTrace::Follow(kCaller, random);
  EXPECT_EQ(End(*trace, Ok(), {.message = "fine"})->message, "");
  EXPECT_EQ(End(*trace, Call(StatusCode::kInternal, {}), {.message = "bad"})->message, "bad");
}

}  // namespace
}  // namespace levee
