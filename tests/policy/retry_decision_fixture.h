// SPDX-License-Identifier: Apache-2.0
// The input of a decision in tests, one failed attempt of a call, and its answer.
#pragma once

#include "gtest/gtest.h"
#include "policy/retry_decision.h"

namespace levee {

inline AttemptOutcome Outcome(AttemptOutcome::Kind kind,
                              StatusCode code = StatusCode::kUnavailable) {
  AttemptOutcome outcome;
  outcome.kind = kind;
  outcome.code = code;
  return outcome;
}

inline AttemptOutcome Failed(StatusCode code = StatusCode::kUnavailable) {
  return Outcome(AttemptOutcome::Kind::kStatus, code);
}

inline AttemptOutcome PushedBack(Pushback pushback) {
  AttemptOutcome outcome = Failed();
  outcome.pushback = pushback;
  return outcome;
}

inline AttemptOutcome Marked(OverloadMark::Signal signal, OverloadScope scope,
                             bool other_endpoint = true) {
  AttemptOutcome outcome = Failed();
  outcome.mark.emplace();
  outcome.mark->signal = signal;
  outcome.mark->scope = scope;
  outcome.place.other_endpoint = other_endpoint;
  return outcome;
}

// A call at second 100 under the policy of section A of the checks, without jitter.
class RetryDecisionTest : public ::testing::Test {
 protected:
  RetryDecisionTest() {
    policy.retry.max_attempts = 4;
    policy.retry.failures = {.refused = true, .connect = true, .reset = true, .timeout = true};
    policy.retry.backoff.initial = absl::Milliseconds(100);
    policy.retry.backoff.jitter = Jitter::kNone;
  }

  RetryDecision Decide(const AttemptOutcome& outcome) {
    return DecideRetry(policy, outcome, facts, now, {random, backoff, budget, 0});
  }

  void ExpectRefused(const AttemptOutcome& outcome, RefusalReason reason) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, RetryDecision::Action::kRefused);
    EXPECT_EQ(decision.reason, reason) << RefusalReasonName(decision.reason);
    EXPECT_EQ(decision.delay, absl::ZeroDuration());
    EXPECT_EQ(Retries(), before) << "a refusal must cost nothing";
  }

  void ExpectPass(const AttemptOutcome& outcome) {
    const int64_t before = Retries();
    EXPECT_EQ(Decide(outcome).action, RetryDecision::Action::kPass);
    EXPECT_EQ(Retries(), before);
  }

  void ExpectRetry(const AttemptOutcome& outcome, absl::Duration delay) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, RetryDecision::Action::kRetry);
    EXPECT_EQ(decision.delay, delay);
    EXPECT_FALSE(decision.transparent);
    EXPECT_TRUE(decision.backed_off);
    EXPECT_EQ(Retries(), before + 1);
  }

  void ExpectTransparent(const AttemptOutcome& outcome, int charged) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, RetryDecision::Action::kRetry);
    EXPECT_EQ(decision.delay, absl::ZeroDuration());
    EXPECT_TRUE(decision.transparent);
    EXPECT_FALSE(decision.backed_off);
    EXPECT_EQ(decision.trigger, RetryTrigger::kRefused);
    EXPECT_EQ(Retries(), before + charged);
  }

  void UseUpBudget() {
    while (budget.Withdraw(0, now)) {
    }
  }

  // So that sending one again is no longer free.
  void RefuseStreams() {
    for (int i = 0; i < 10; ++i) budget.RecordEnd({.refused_stream = true}, now);
  }

  int64_t Retries() const { return budget.Read(now).retries; }

  CallPolicy policy;
  RetryFacts facts;
  Instant now = Instant() + absl::Seconds(100);
  Random random{1};
  Backoff backoff;
  // With so much credit that the window alone decides.
  RetryBudget budget{{.burst_least = 1000}, 1};
};

}  // namespace levee
