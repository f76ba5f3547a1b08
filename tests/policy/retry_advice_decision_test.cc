// SPDX-License-Identifier: Apache-2.0
// The server's advice about the wait, and the time for which retrying may go on.
#include "gtest/gtest.h"
#include "policy/retry_decision_fixture.h"

namespace levee {
namespace {

AttemptOutcome Advised(absl::Duration advice) {
  AttemptOutcome outcome = Failed();
  outcome.advice = advice;
  return outcome;
}

Pushback DelayOf(absl::Duration delay) { return {Pushback::Kind::kDelay, delay}; }

class RetryAdviceTest : public RetryDecisionTest {};

TEST_F(RetryAdviceTest, A23_APushbackBeyondTheDeadlineIsNotWaitedFor) {
  facts.deadline = now + absl::Milliseconds(500);
  ExpectRefused(PushedBack(DelayOf(absl::Seconds(1))), RefusalReason::kDeadline);
}

TEST_F(RetryAdviceTest, A33_PushbackIsTheExactDelay) {
  policy.retry.backoff.jitter = Jitter::kFull;
  ExpectRetry(PushedBack(DelayOf(absl::Seconds(1))), absl::Seconds(1));
}

TEST_F(RetryAdviceTest, A34_PushbackOfZeroRetriesAtOnce) {
  ExpectRetry(PushedBack(DelayOf(absl::ZeroDuration())), absl::ZeroDuration());
}

TEST_F(RetryAdviceTest, A35_TheFailureAfterAPushbackStartsAgainAtInitial) {
  ExpectRetry(Failed(), absl::Milliseconds(100));
  ExpectRetry(Failed(), absl::Milliseconds(200));
  ExpectRetry(PushedBack(DelayOf(absl::Seconds(3))), absl::Seconds(3));
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryAdviceTest, A36_ANegativePushbackEndsRetrying) {
  ExpectRefused(Marked(OverloadMark::Signal::kPushback, OverloadScope::kService),
                RefusalReason::kPushback);
}

TEST_F(RetryAdviceTest, A39_APushbackOnAnUnlistedFailureChangesNothing) {
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kPushback, OverloadScope::kService);
  outcome.code = StatusCode::kInternal;
  ExpectPass(outcome);
  outcome.mark.reset();
  outcome.pushback = DelayOf(absl::Seconds(1));
  ExpectPass(outcome);
}

TEST_F(RetryAdviceTest, A39_APushbackOnACommittedCallChangesNothing) {
  facts.answered = true;
  ExpectRefused(PushedBack(DelayOf(absl::Seconds(1))), RefusalReason::kCommitted);
}

TEST_F(RetryAdviceTest, ANegativePushbackThatIsNotHonouredLeavesTheDelayToTheBackoff) {
  ExpectRetry(PushedBack({Pushback::Kind::kDoNotRetry}), absl::Milliseconds(100));
}

TEST_F(RetryAdviceTest, A40_APushbackAboveMaxAdviceEndsRetrying) {
  ExpectRetry(PushedBack(DelayOf(absl::Seconds(60))), absl::Seconds(60));
  ExpectRefused(PushedBack(DelayOf(absl::Milliseconds(60'001))), RefusalReason::kAdvice);
}

TEST_F(RetryAdviceTest, A40_AdviceTakesTheDelaysPlace) {
  ExpectRetry(Failed(), absl::Milliseconds(100));
  ExpectRetry(Advised(absl::Milliseconds(30)), absl::Milliseconds(30));
}

TEST_F(RetryAdviceTest, A40_AdviceIsTheLeastAndTheJitterOfInitialComesOnTop) {
  policy.retry.backoff.jitter = Jitter::kFull;
  bool above = false;
  for (int i = 0; i < 10; ++i) {
    const absl::Duration delay = Decide(Advised(absl::Seconds(2))).delay;
    EXPECT_GE(delay, absl::Seconds(2));
    EXPECT_LT(delay, absl::Milliseconds(2'100));
    above = above || delay > absl::Seconds(2);
  }
  EXPECT_TRUE(above);
}

TEST_F(RetryAdviceTest, A35_TheFailureAfterAdviceStartsAgainAtInitial) {
  ExpectRetry(Failed(), absl::Milliseconds(100));
  ExpectRetry(Failed(), absl::Milliseconds(200));
  ExpectRetry(Advised(absl::Seconds(3)), absl::Seconds(3));
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryAdviceTest, A40_AdviceAboveMaxAdviceEndsRetrying) {
  ExpectRetry(Advised(absl::Seconds(60)), absl::Seconds(60));
  ExpectRefused(Advised(absl::Seconds(60) + absl::Nanoseconds(1)), RefusalReason::kAdvice);
}

// Jitter does not count: max_advice is about what the server says.
TEST_F(RetryAdviceTest, A40_AdviceOfMaxAdviceWithJitterIsFollowed) {
  policy.retry.backoff.jitter = Jitter::kFull;
  EXPECT_GT(Decide(Advised(absl::Seconds(60))).delay, absl::Seconds(60));
}

TEST_F(RetryAdviceTest, A40_AdviceWithoutEndIsNeverFollowed) {
  policy.retry.backoff.max_advice = absl::InfiniteDuration();
  ExpectRetry(Advised(absl::Hours(10)), absl::Hours(10));
  ExpectRefused(Advised(absl::InfiniteDuration()), RefusalReason::kAdvice);
}

TEST_F(RetryAdviceTest, A33_PushbackBeatsAdvice) {
  AttemptOutcome outcome = PushedBack(DelayOf(absl::Milliseconds(10)));
  for (absl::Duration advice : {absl::Seconds(2), absl::Hours(2)}) {
    outcome.advice = advice;
    ExpectRetry(outcome, absl::Milliseconds(10));
  }
}

TEST_F(RetryAdviceTest, A40_ANegativePushbackThatIsNotHonouredLeavesTheDelayToAdvice) {
  AttemptOutcome outcome = PushedBack({Pushback::Kind::kDoNotRetry});
  outcome.advice = absl::Seconds(2);
  ExpectRetry(outcome, absl::Seconds(2));
}

TEST_F(RetryAdviceTest, A40_AdviceDoesNotMakeAFailureRetryable) {
  AttemptOutcome outcome = Advised(absl::Seconds(1));
  outcome.code = StatusCode::kResourceExhausted;
  ExpectPass(outcome);
}

TEST_F(RetryAdviceTest, A40_AdviceBeyondTheDeadlineIsNotWaitedFor) {
  facts.deadline = now + absl::Milliseconds(500);
  ExpectRefused(Advised(absl::Milliseconds(500)), RefusalReason::kDeadline);
}

class RetryElapsedTest : public RetryDecisionTest {
 protected:
  RetryElapsedTest() {
    policy.retry.backoff.max_elapsed = absl::Seconds(10);
    facts.first_start = now;
  }
};

TEST_F(RetryElapsedTest, ARetryThatStartsAtMaxElapsedIsMade) {
  now = facts.first_start + absl::Milliseconds(9'900);
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryElapsedTest, ARetryThatWouldStartLaterIsNot) {
  now = facts.first_start + absl::Milliseconds(9'900) + absl::Nanoseconds(1);
  ExpectRefused(Failed(), RefusalReason::kMaxElapsed);
}

TEST_F(RetryElapsedTest, APushbackBeyondMaxElapsedIsNotWaitedFor) {
  ExpectRetry(PushedBack(DelayOf(absl::Seconds(10))), absl::Seconds(10));
  ExpectRefused(PushedBack(DelayOf(absl::Milliseconds(10'001))), RefusalReason::kMaxElapsed);
}

TEST_F(RetryElapsedTest, AdviceBeyondMaxElapsedIsNotWaitedFor) {
  ExpectRetry(Advised(absl::Seconds(10)), absl::Seconds(10));
  ExpectRefused(Advised(absl::Milliseconds(10'001)), RefusalReason::kMaxElapsed);
}

TEST_F(RetryElapsedTest, OtherKindsOfBackoffAreBoundToo) {
  policy.retry.backoff.kind = BackoffPolicy::Kind::kSchedule;
  policy.retry.backoff.schedule = {absl::Seconds(1), absl::Seconds(11)};
  ExpectRetry(Failed(), absl::Seconds(1));
  ExpectRefused(Failed(), RefusalReason::kMaxElapsed);
}

TEST_F(RetryElapsedTest, TheImmediateRetryOfARefusedStreamIsNotBound) {
  now = now + absl::Seconds(20);
  ExpectTransparent(Outcome(AttemptOutcome::Kind::kRefused), 0);
}

}  // namespace
}  // namespace levee
