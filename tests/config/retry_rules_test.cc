// SPDX-License-Identifier: Apache-2.0
// Outcomes that are retried in a way of their own.
#include "absl/time/time.h"
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(RetryRules, MatchCodesHttpStatusesAndFailures) {
  const RetryPolicy retry = RetryOf(
      "{rules: [{codes: [RESOURCE_EXHAUSTED], http: [429, 5xx], failures: [reset]}, "
      "{http: [408]}]}");
  ASSERT_EQ(retry.rules.size(), 2u);
  const RetryRule& first = retry.rules[0];
  EXPECT_EQ(first.codes, StatusCodeSet{StatusCode::kResourceExhausted});
  EXPECT_TRUE(first.http.Has(429));
  EXPECT_TRUE(first.http.Has(503));
  EXPECT_FALSE(first.http.Has(408));
  EXPECT_TRUE(first.failures.reset);
  EXPECT_FALSE(first.failures.refused);
  EXPECT_FALSE(first.failures.connect);
  EXPECT_FALSE(first.failures.timeout);
  EXPECT_TRUE(retry.rules[1].codes.empty());
  EXPECT_TRUE(retry.rules[1].http.Has(408));
  EXPECT_FALSE(retry.rules[1].failures.refused);
}

TEST(RetryRules, BringAttemptsAndBackoffOfTheirOwn) {
  const RetryPolicy retry = RetryOf(
      "{max_attempts: 9, backoff: {preset: grpc}, "
      "rules: [{http: [429], max_attempts: 4, backoff: {preset: vital}}, "
      "{http: [408], max_attempts: 2, backoff: {constant: 1s}}]}");
  EXPECT_EQ(retry.rules[0].max_attempts, 4);
  EXPECT_EQ(retry.rules[0].backoff.max, absl::Seconds(15));
  EXPECT_EQ(retry.rules[1].max_attempts, 2);
  EXPECT_EQ(retry.rules[1].backoff.kind, BackoffPolicy::Kind::kSchedule);
  EXPECT_EQ(retry.rules[1].backoff.schedule, std::vector<absl::Duration>{absl::Seconds(1)});
}

TEST(RetryRules, HaveThePolicysAttemptsAndBackoffOtherwise) {
  const RetryPolicy retry = RetryOf(
      "{max_attempts: 9, backoff: {preset: google-cloud, max: 8s, max_advice: 5s}, "
      "rules: [{http: [429]}]}");
  EXPECT_EQ(retry.rules[0].max_attempts, 9);
  EXPECT_EQ(retry.rules[0].backoff.initial, absl::Seconds(1));
  EXPECT_EQ(retry.rules[0].backoff.max, absl::Seconds(8));
  EXPECT_EQ(retry.rules[0].backoff.jitter, Jitter::kAdd);
  EXPECT_EQ(retry.rules[0].backoff.max_advice, absl::Seconds(5));
}

TEST(RetryRules, OwnBackoffStartsFromTheDefaultsNotFromThePolicys) {
  const RetryPolicy retry = RetryOf(
      "{backoff: {initial: 5s, max: 9s, jitter: none}, "
      "rules: [{http: [429], backoff: {multiplier: 3}}]}");
  const BackoffPolicy& backoff = retry.rules[0].backoff;
  EXPECT_EQ(backoff.initial, absl::Milliseconds(25));
  EXPECT_EQ(backoff.multiplier, 3);
  EXPECT_EQ(backoff.max, absl::Seconds(1));
  EXPECT_EQ(backoff.jitter, Jitter::kFull);
}

TEST(RetryRules, RuleThatMatchesNothingIsRefused) {
  EXPECT_EQ(
      PolicyFaults("retry: {rules: [{http: [429]}, {max_attempts: 2}]}"),
      "f:2:32: LV310 policies[0].retry.rules[1]: matches nothing; give it codes, http or failures");
  EXPECT_EQ(
      PolicyFaults("retry: {rules: [{codes: [], http: []}]}"),
      "f:2:17: LV310 policies[0].retry.rules[0]: matches nothing; give it codes, http or failures");
  // The value that could not be read would have matched an outcome.
  EXPECT_EQ(PolicyFaults("retry: {rules: [{http: 429}, ~]}"),
            "f:2:16: LV108 policies[0].retry.rules[1]: has no value; leave the element out\n"
            "f:2:24: LV109 policies[0].retry.rules[0].http: is \"429\"; write a list; say [429]");
}

TEST(RetryRules, FaultsInsideHaveTheirPosition) {
  EXPECT_EQ(PolicyFaults("retry: {rules: [{http: [42x, 600], failures: [lost]}]}"),
            "f:2:25: LV207 policies[0].retry.rules[0].http[0]: \"42x\" is not an HTTP status; say "
            "429, or "
            "5xx for 500 to 599\n"
            "f:2:30: LV207 policies[0].retry.rules[0].http[1]: \"600\" is not an HTTP status; say "
            "429, or "
            "5xx for 500 to 599\n"
            "f:2:47: LV202 policies[0].retry.rules[0].failures[0]: \"lost\" is unknown; allowed: "
            "refused, connect, reset, timeout");
  EXPECT_EQ(
      PolicyFaults("retry: {rules: [{http: [408], backoff: {constant: 1s, max: 2s}}]}"),
      "f:2:51: LV304 policies[0].retry.rules[0].backoff.constant: excludes max, given too; use one "
      "or the other");
  EXPECT_EQ(PolicyFaults("retry: {rules: [{http: [408], backoff: {preset: vital, max: 9ms}}]}"),
            "f:2:61: LV306 policies[0].retry.rules[0].backoff.max: 9ms is below initial, 1s (the "
            "preset's); it must be at least that");
  EXPECT_EQ(PolicyFaults("retry: {rules: [{http: [408], backoff: none}]}"),
            "f:2:40: LV109 policies[0].retry.rules[0].backoff: is \"none\"; write a mapping of "
            "these: initial, multiplier, max, jitter, max_advice, preset, constant, schedule, "
            "slot, truncate, max_elapsed, cap");
}

TEST(RetryRules, HttpStatusesOfThePolicyAreCheckedToo) {
  EXPECT_EQ(
      PolicyFaults("retry: {http: [5XX]}"),
      "f:2:16: LV207 policies[0].retry.http[0]: \"5XX\" is not an HTTP status; say 429, or 5xx for "
      "500 to 599");
  EXPECT_EQ(
      PolicyFaults("retry: {mode: watch}"),
      "f:2:15: LV202 policies[0].retry.mode: \"watch\" is unknown; allowed: enforce, observe");
}

}  // namespace
}  // namespace levee
