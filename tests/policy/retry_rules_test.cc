// SPDX-License-Identifier: Apache-2.0
// Retries of answers that are not gRPC, and the changes that a rule makes for its outcomes.
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "policy/retry_decision_fixture.h"

namespace levee {
namespace {

using Action = RetryDecision::Action;
using Kind = AttemptOutcome::Kind;

AttemptOutcome Http(int status) {
  AttemptOutcome outcome = Outcome(Kind::kHttp, StatusFromHttp(status));
  outcome.http_status = status;
  return outcome;
}

BackoffPolicy Constant(absl::Duration delay) {
  BackoffPolicy backoff;
  backoff.kind = BackoffPolicy::Kind::kSchedule;
  backoff.schedule = {delay};
  return backoff;
}

class RetryHttpTest : public RetryDecisionTest {};

TEST_F(RetryHttpTest, A11_AnHttpAnswerIsRetriedIffItsStatusOrItsCodeIsListed) {
  // 503 maps to UNAVAILABLE, 408 to UNKNOWN.
  policy.retry.codes = {};
  ExpectPass(Http(503));
  ExpectPass(Http(408));
  policy.retry.http.Add(408);
  ExpectPass(Http(503));
  ExpectRetry(Http(408), absl::Milliseconds(100));
  policy.retry.http = {};
  policy.retry.codes = {StatusCode::kUnavailable};
  ExpectRetry(Http(503), absl::Milliseconds(200));
  ExpectPass(Http(408));
}

TEST_F(RetryHttpTest, AnHttpAnswersTriggerIsHttp) {
  policy.retry.http.AddClass(5);
  EXPECT_EQ(Decide(Http(500)).trigger, RetryTrigger::kHttp);
  EXPECT_EQ(Decide(Http(503)).trigger, RetryTrigger::kHttp);
}

TEST_F(RetryHttpTest, AnHttpStatusSaysNothingOfAGrpcAnswer) {
  policy.retry.codes = {};
  policy.retry.http.Add(200);
  AttemptOutcome outcome = Failed();
  outcome.http_status = 200;
  ExpectPass(outcome);
}

// The policy of section A and two rules of their own.
class RetryRulesTest : public RetryDecisionTest {
 protected:
  RetryRulesTest() {
    RetryRule busy;
    busy.codes = {StatusCode::kResourceExhausted};
    busy.http.Add(429);
    busy.http.AddClass(5);
    busy.max_attempts = 5;
    busy.backoff = Constant(absl::Seconds(1));
    RetryRule slow;
    slow.http.Add(408);
    slow.max_attempts = 2;
    slow.backoff = Constant(absl::Seconds(3));
    policy.retry.rules = {busy, slow};
  }
};

TEST_F(RetryRulesTest, ARuleMakesItsOutcomesRetryable) {
  ExpectRetry(Failed(StatusCode::kResourceExhausted), absl::Seconds(1));
  ExpectRetry(Http(429), absl::Seconds(1));
  ExpectRetry(Http(500), absl::Seconds(1));
  ExpectRetry(Http(408), absl::Seconds(3));
  ExpectPass(Failed(StatusCode::kInternal));
  ExpectPass(Http(404));
}

TEST_F(RetryRulesTest, ARulesOutcomeIsRetryableBeforeAnyDecision) {
  EXPECT_EQ(Retryable(policy.retry, Http(408), false), RetryTrigger::kHttp);
  EXPECT_EQ(Retryable(policy.retry, Failed(StatusCode::kResourceExhausted), false),
            RetryTrigger::kStatus);
  EXPECT_EQ(Retryable(policy.retry, Http(404), false), std::nullopt);
}

TEST_F(RetryRulesTest, ARulesCodesMatchTheMappedCodeOfAnHttpAnswer) {
  policy.retry.rules[1].codes = {StatusCode::kUnimplemented};
  ExpectRetry(Http(404), absl::Seconds(3));
}

TEST_F(RetryRulesTest, ARulesFailuresMatchWhatLeveeSaw) {
  policy.retry.failures = {false, false, false, false};
  facts.transparent_used = true;
  RetryRule& rule = policy.retry.rules[1];
  for (Kind kind : {Kind::kRefused, Kind::kConnect, Kind::kReset, Kind::kTimeout}) {
    rule.failures = {.refused = kind == Kind::kRefused,
                     .connect = kind == Kind::kConnect,
                     .reset = kind == Kind::kReset,
                     .timeout = kind == Kind::kTimeout};
    for (Kind seen : {Kind::kRefused, Kind::kConnect, Kind::kReset, Kind::kTimeout}) {
      if (seen == kind) {
        ExpectRetry(Outcome(seen), absl::Seconds(3));
      } else {
        ExpectPass(Outcome(seen));
      }
    }
  }
}

// A failure's mapped code is no word of the server.
TEST_F(RetryRulesTest, A55_ARulesCodesDoNotMatchAReset) {
  policy.retry.failures.reset = false;
  ExpectPass(Outcome(Kind::kReset, StatusCode::kResourceExhausted));
}

TEST_F(RetryRulesTest, ARuleNeverMatchesASuccess) {
  policy.retry.rules[0].codes.Add(StatusCode::kOk);
  EXPECT_EQ(Retryable(policy.retry, Failed(StatusCode::kOk), false), std::nullopt);
  ExpectPass(Failed(StatusCode::kOk));
}

TEST_F(RetryRulesTest, TheFirstRuleThatMatchesCounts) {
  policy.retry.rules[1].http.Add(429);
  ExpectRetry(Http(429), absl::Seconds(1));
  std::swap(policy.retry.rules[0], policy.retry.rules[1]);
  ExpectRetry(Http(429), absl::Seconds(3));
}

TEST_F(RetryRulesTest, ARuleComesBeforeThePolicysOwnLists) {
  policy.retry.http.Add(408);
  ExpectRetry(Http(408), absl::Seconds(3));
  // Listed by `codes` of the policy, and by 5xx of the first rule.
  ExpectRetry(Http(503), absl::Seconds(1));
  facts.attempts = 2;
  ExpectRefused(Http(408), RefusalReason::kMaxAttempts);
}

TEST_F(RetryRulesTest, ARulesMaxAttemptsBoundsTheCallsAttemptsForItsOutcomesOnly) {
  facts.attempts = 2;
  ExpectRefused(Http(408), RefusalReason::kMaxAttempts);
  ExpectRetry(Failed(), absl::Milliseconds(100));
  facts.attempts = 4;
  ExpectRefused(Failed(), RefusalReason::kMaxAttempts);
  ExpectRetry(Http(429), absl::Seconds(1));
  facts.attempts = 5;
  ExpectRefused(Http(429), RefusalReason::kMaxAttempts);
}

TEST_F(RetryRulesTest, RetriesAreCountedThroughAChangeOfBackoff) {
  ExpectRetry(Http(408), absl::Seconds(3));
  ExpectRetry(Failed(), absl::Milliseconds(200));
}

TEST_F(RetryRulesTest, ARulesMaxAdviceAndMaxElapsedAreItsOwn) {
  policy.retry.rules[0].backoff.max_advice = absl::Seconds(5);
  policy.retry.rules[1].backoff.max_elapsed = absl::Seconds(2);
  facts.first_start = now;
  AttemptOutcome busy = Http(429);
  busy.advice = absl::Seconds(6);
  ExpectRefused(busy, RefusalReason::kAdvice);
  ExpectRefused(Http(408), RefusalReason::kMaxElapsed);
  AttemptOutcome down = Failed();
  down.advice = absl::Seconds(6);
  ExpectRetry(down, absl::Seconds(6));
}

TEST_F(RetryRulesTest, A68_AnIdempotentCallsResetIsRetriedByThePolicyNotByARule) {
  policy.retry.failures = {};
  facts.idempotent = true;
  ExpectRetry(Outcome(Kind::kReset), absl::Milliseconds(100));
  policy.retry.rules[1].failures.reset = true;
  ExpectRetry(Outcome(Kind::kReset), absl::Seconds(3));
}

TEST_F(RetryRulesTest, A53_TheImmediateRetryNeedsNoRuleAndItsAttemptsAreNotBound) {
  policy.retry.rules[1].failures.refused = true;
  facts.attempts = 2;
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.transparent_used = true;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kMaxAttempts);
}

TEST_F(RetryRulesTest, NeverIdempotentCallsAreNotRetriedByARuleEither) {
  policy.idempotency = IdempotencyMode::kNever;
  ExpectRefused(Http(429), RefusalReason::kNotIdempotent);
}

}  // namespace
}  // namespace levee
