// SPDX-License-Identifier: Apache-2.0
// Attempts that a policy holds back although everything else allows them: attempts that could
// hardly end, and every retry of a policy that only observes.
#include "gtest/gtest.h"
#include "policy/retry_decision_fixture.h"

namespace levee {
namespace {

using Action = RetryDecision::Action;
using Kind = AttemptOutcome::Kind;

// A call with 600 ms left; half of the attempts take 500 ms or more.
class RetryRemainingTest : public RetryDecisionTest {
 protected:
  RetryRemainingTest() {
    facts.expected = absl::Milliseconds(500);
    facts.deadline = now + absl::Milliseconds(600);
  }
};

TEST_F(RetryRemainingTest, A31_AnAttemptThatCanHardlyFinishIsNotMade) {
  ExpectRefused(Failed(), RefusalReason::kDeadline);
}

TEST_F(RetryRemainingTest, A31_OneThatCanIs) {
  facts.expected = absl::Milliseconds(500) - absl::Nanoseconds(1);
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryRemainingTest, A31_SwitchedOffTheDelayAloneCounts) {
  policy.retry.min_remaining = false;
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryRemainingTest, A31_WithoutADeadlineAnyAttemptCanFinish) {
  facts.deadline = Instant::Infinite();
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryRemainingTest, A31_APushbackLeavesLessTime) {
  ExpectRetry(PushedBack({Pushback::Kind::kDelay, absl::Milliseconds(99)}), absl::Milliseconds(99));
  ExpectRefused(PushedBack({Pushback::Kind::kDelay, absl::Milliseconds(100)}),
                RefusalReason::kDeadline);
}

TEST_F(RetryRemainingTest, A31_TheImmediateRetryMustBeAbleToFinishToo) {
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.expected = absl::Milliseconds(600);
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kDeadline);
}

TEST_F(RetryRemainingTest, A52_WhatNeverLeftIsSentAgainWhileThereIsTimeAtAll) {
  facts.expected = absl::Seconds(10);
  ExpectTransparent(Outcome(Kind::kUnsent), 0);
}

class RetryObserveTest : public RetryDecisionTest {
 protected:
  RetryObserveTest() { policy.retry.mode = RetryMode::kObserve; }

  // The retry is not made, but charged.
  void ExpectObserved(const AttemptOutcome& outcome) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, Action::kRefused);
    EXPECT_EQ(decision.reason, RefusalReason::kObserve) << RefusalReasonName(decision.reason);
    EXPECT_EQ(Retries(), before + 1);
  }
};

TEST_F(RetryObserveTest, ARetryIsChargedButNotMade) { ExpectObserved(Failed()); }

TEST_F(RetryObserveTest, TheImmediateRetryOfARefusedStreamIsOnlyObservedToo) {
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kObserve);
  RefuseStreams();
  ExpectObserved(Outcome(Kind::kRefused));
}

TEST_F(RetryObserveTest, A52_WhatNeverLeftIsStillSentAgain) {
  ExpectTransparent(Outcome(Kind::kUnsent), 0);
}

TEST_F(RetryObserveTest, WhatWouldNotBeRetriedPasses) {
  ExpectPass(Failed(StatusCode::kInternal));
  ExpectPass(Failed(StatusCode::kOk));
}

TEST_F(RetryObserveTest, WhatWouldBeRefusedKeepsItsReason) {
  RefuseStreams();
  UseUpBudget();
  ExpectRefused(Failed(), RefusalReason::kBudget);
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kBudget);
  facts.attempts = 4;
  ExpectRefused(Failed(), RefusalReason::kMaxAttempts);
}

}  // namespace
}  // namespace levee
