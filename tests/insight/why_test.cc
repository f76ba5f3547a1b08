// SPDX-License-Identifier: Apache-2.0
// The sentences that people read about one call.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "insight/recent_calls.h"

namespace levee {
namespace {

constexpr StatusCode kOk = StatusCode::kOk;
constexpr StatusCode kUnavailable = StatusCode::kUnavailable;
constexpr StatusCode kExhausted = StatusCode::kResourceExhausted;

AttemptRecord First(StatusCode code) { return {.code = code}; }

AttemptRecord Retry(StatusCode code, RetryTrigger trigger = RetryTrigger::kStatus,
                    StatusCode after = kUnavailable) {
  return {.code = code, .trigger = trigger, .after = after};
}

CallRecord CallOf(StatusCode code, const std::vector<AttemptRecord>& attempts) {
  CallRecord record;
  record.code = code;
  record.attempts.assign(attempts.begin(), attempts.end());
  return record;
}

CallRecord Refused(CallRecord record, RefusalReason reason) {
  record.refused = reason;
  return record;
}

TEST(WhyOf, ARetriedCallSaysHowOftenAndAfterWhat) {
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), Retry(kUnavailable), Retry(kOk)})),
            "retried twice after UNAVAILABLE; the third attempt was OK");
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), Retry(StatusCode::kAborted),
                               Retry(kOk, RetryTrigger::kStatus, StatusCode::kAborted)})),
            "retried twice after UNAVAILABLE and ABORTED; the third attempt was OK");
}

TEST(WhyOf, WhatLeveeSawItselfIsToldAsThat) {
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), Retry(kOk, RetryTrigger::kReset)})),
            "retried once after a reset; the second attempt was OK");
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), Retry(kOk, RetryTrigger::kHttp)})),
            "retried once after an HTTP error (UNAVAILABLE); the second attempt was OK");
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), Retry(kOk, RetryTrigger::kConnect)})),
            "retried once after no connection; the second attempt was OK");
  EXPECT_EQ(WhyOf(CallOf(
                kOk, {First(StatusCode::kDeadlineExceeded), Retry(kOk, RetryTrigger::kTimeout)})),
            "retried once after the attempt's timeout; the second attempt was OK");
}

TEST(WhyOf, ARefusedRetrySaysWhyForEveryReason) {
  const std::vector<std::string> phrases = {"budget used up",
                                            "no attempts left",
                                            "deadline too near",
                                            "answer already begun",
                                            "request too large to replay",
                                            "server asked for no retry",
                                            "overload signal received",
                                            "method not idempotent",
                                            "time for retries used up",
                                            "server asked for too long a wait",
                                            "sidecar shutting down",
                                            "policy only observes",
                                            "upstream overloaded"};
  ASSERT_EQ(phrases.size(), static_cast<size_t>(kRefusalReasons));
  for (int reason = 0; reason < kRefusalReasons; ++reason) {
    const CallRecord record = CallOf(kUnavailable, {First(kUnavailable)});
    EXPECT_EQ(WhyOf(Refused(record, static_cast<RefusalReason>(reason))),
              "failed with UNAVAILABLE; not retried: " + phrases[static_cast<size_t>(reason)]);
  }
}

TEST(WhyOf, TheLastFailureIsToldNotTheMarkThatTookItsPlace) {
  CallRecord record =
      Refused(CallOf(kExhausted, {First(kUnavailable), Retry(StatusCode::kUnknown)}),
              RefusalReason::kBudget);
  record.mark_sent = OverloadScope::kService;
  EXPECT_EQ(WhyOf(record),
            "retried once after UNAVAILABLE; the last attempt failed with UNKNOWN; not retried "
            "again: budget used up; the caller was told not to retry");
}

TEST(WhyOf, EachWaitForASuccessSaysHowLongItWasAndHowItEnded) {
  const auto waited = [](int ms, WaitEnd end) {
    return WaitRecord{.after = 1, .end = end, .waited = absl::Milliseconds(ms)};
  };
  CallRecord record = CallOf(kOk, {First(kUnavailable), Retry(kOk)});
  record.waits = {waited(150, WaitEnd::kReleased)};
  EXPECT_EQ(
      WhyOf(record),
      "retried once after UNAVAILABLE; waited 150ms for a success; the second attempt was OK");
  record = Refused(CallOf(kExhausted, {First(kUnavailable)}), RefusalReason::kBudget);
  record.waits = {waited(2000, WaitEnd::kExpired)};
  EXPECT_EQ(WhyOf(record),
            "failed with UNAVAILABLE; not retried: no success paid for it while it waited 2s");
  record.waits = {waited(1900, WaitEnd::kDeadline)};
  EXPECT_EQ(WhyOf(record),
            "failed with UNAVAILABLE; not retried: no success paid for it while it waited 1.9s, "
            "until the deadline was near");
  record = CallOf(StatusCode::kCancelled, {First(kUnavailable)});
  record.waits = {waited(500, WaitEnd::kCancelled)};
  EXPECT_EQ(WhyOf(record), "waited 500ms for a success in vain; then cancelled");
}

TEST(WhyOf, AFullReplayMemoryIsNoLargeRequest) {
  CallRecord record = Refused(CallOf(kUnavailable, {First(kUnavailable)}), RefusalReason::kBuffer);
  record.replay_memory_full = true;
  EXPECT_EQ(WhyOf(record),
            "failed with UNAVAILABLE; not retried: no memory left to keep the request");
}

TEST(WhyOf, HedgesAreNoRetries) {
  EXPECT_EQ(
      WhyOf(CallOf(kOk, {First(StatusCode::kCancelled), Retry(kOk, RetryTrigger::kHedge, kOk)})),
      "hedged once; the second attempt was OK");
  EXPECT_EQ(
      WhyOf(CallOf(kOk, {First(kOk), Retry(StatusCode::kCancelled, RetryTrigger::kHedge, kOk)})),
      "hedged once; the first attempt was OK");
  EXPECT_EQ(WhyOf(Refused(CallOf(kOk, {First(kOk)}), RefusalReason::kBudget)),
            "OK; no further attempt: budget used up");
}

TEST(WhyOf, ATransparentRetryIsToldApart) {
  AttemptRecord again = Retry(kOk, RetryTrigger::kRefused);
  again.transparent = true;
  EXPECT_EQ(WhyOf(CallOf(kOk, {First(kUnavailable), again})),
            "sent again once, as the server had not processed it; the second attempt was OK");
}

TEST(WhyOf, ARetryOfTheApplicationIsItsOwn) {
  CallRecord record = Refused(CallOf(kExhausted, {}), RefusalReason::kBudget);
  record.app_retry = AppRetrySign::kHeader;
  record.app_retry_refused = true;
  EXPECT_EQ(WhyOf(record),
            "refused: a retry by the application itself, and the budget for retries is used up");
  record = CallOf(kOk, {First(kUnavailable), Retry(kOk)});
  record.app_retry = AppRetrySign::kHeader;
  EXPECT_EQ(WhyOf(record),
            "a retry by the application itself; retried once after UNAVAILABLE; the second attempt "
            "was OK");
}

TEST(WhyOf, ARetryOfALoopSaysHowItIsKnown) {
  CallRecord record = Refused(CallOf(kExhausted, {}), RefusalReason::kBudget);
  record.app_retry = AppRetrySign::kLoop;
  record.app_retry_refused = true;
  EXPECT_EQ(WhyOf(record),
            "refused: a retry by the application itself (an equal call failed a moment ago), and "
            "the budget for retries is used up");
}

TEST(WhyOf, RateLimitsRefuseAndDelay) {
  CallRecord record = CallOf(kExhausted, {});
  record.rate_limit = {.checked = true, .refused_by = 0};
  EXPECT_EQ(WhyOf(record), "refused by a rate limit");
  record = CallOf(kOk, {First(kUnavailable), Retry(kOk)});
  record.rate_limit = {.checked = true, .delayed_by = 0};
  EXPECT_EQ(WhyOf(record),
            "waited for a rate limit; retried once after UNAVAILABLE; the second attempt was OK");
}

TEST(WhyOf, AGuardRefusesOrLetsWait) {
  CallRecord record = CallOf(kExhausted, {});
  record.guard = {.decision = GuardDecision::kRefused, .reason = GuardReason::kConcurrency};
  EXPECT_EQ(WhyOf(record), "refused by the guard: no slot was free, and no more may wait");
  record.guard = {.decision = GuardDecision::kRefused,
                  .reason = GuardReason::kQueue,
                  .priority = 64,
                  .waited = absl::Microseconds(4321)};
  EXPECT_EQ(WhyOf(record),
            "refused by the guard: too many calls wait for a slot (it waited 4.3ms, priority 64)");
  record = CallOf(kOk, {First(kOk)});
  record.guard = {.decision = GuardDecision::kQueued};
  EXPECT_EQ(WhyOf(record), "waited for a slot of the guard; OK");
}

TEST(WhyOf, AnOverloadedEndpointIsNamedWhenAnotherOneWasAsked) {
  CallRecord record = CallOf(kOk, {First(kUnavailable), Retry(kOk)});
  record.attempts[0].mark_received = OverloadScope::kEndpoint;
  EXPECT_EQ(WhyOf(record),
            "retried once after UNAVAILABLE; the second attempt was OK; an endpoint said it is "
            "overloaded");
}

TEST(WhyOf, ACallThatEndsWithoutAnAttemptOrInItsMiddle) {
  EXPECT_EQ(WhyOf(Refused(CallOf(kUnavailable, {}), RefusalReason::kDraining)),
            "ended with UNAVAILABLE before an attempt: sidecar shutting down");
  EXPECT_EQ(WhyOf(CallOf(StatusCode::kDeadlineExceeded, {})),
            "ended with DEADLINE_EXCEEDED before an attempt");
  EXPECT_EQ(
      WhyOf(CallOf(StatusCode::kCancelled, {First(kUnavailable), Retry(StatusCode::kCancelled)})),
      "retried once after UNAVAILABLE; then cancelled");
}

}  // namespace
}  // namespace levee
