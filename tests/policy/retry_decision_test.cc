#include "policy/retry_decision.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

using Action = RetryDecision::Action;
using Kind = AttemptOutcome::Kind;

AttemptOutcome Outcome(Kind kind, StatusCode code = StatusCode::kUnavailable) {
  AttemptOutcome outcome;
  outcome.kind = kind;
  outcome.code = code;
  return outcome;
}

AttemptOutcome Failed(StatusCode code = StatusCode::kUnavailable) {
  return Outcome(Kind::kStatus, code);
}

AttemptOutcome PushedBack(Pushback pushback) {
  AttemptOutcome outcome = Failed();
  outcome.pushback = pushback;
  return outcome;
}

AttemptOutcome Marked(OverloadMark::Signal signal, OverloadScope scope,
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
    return DecideRetry(policy, outcome, facts, now, random, backoff, budget, 0);
  }

  void ExpectRefused(const AttemptOutcome& outcome, RefusalReason reason) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, Action::kRefused);
    EXPECT_EQ(decision.reason, reason) << RefusalReasonName(decision.reason);
    EXPECT_EQ(decision.delay, absl::ZeroDuration());
    EXPECT_EQ(Retries(), before) << "a refusal must cost nothing";
  }

  void ExpectPass(const AttemptOutcome& outcome) {
    const int64_t before = Retries();
    EXPECT_EQ(Decide(outcome).action, Action::kPass);
    EXPECT_EQ(Retries(), before);
  }

  void ExpectRetry(const AttemptOutcome& outcome, absl::Duration delay) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, Action::kRetry);
    EXPECT_EQ(decision.delay, delay);
    EXPECT_FALSE(decision.transparent);
    EXPECT_TRUE(decision.backed_off);
    EXPECT_EQ(Retries(), before + 1);
  }

  void ExpectTransparent(const AttemptOutcome& outcome, int charged) {
    const int64_t before = Retries();
    const RetryDecision decision = Decide(outcome);
    EXPECT_EQ(decision.action, Action::kRetry);
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

  int64_t Retries() const { return budget.Read(now).retries; }

  CallPolicy policy;
  RetryFacts facts;
  Instant now = Instant() + absl::Seconds(100);
  Random random{1};
  Backoff backoff;
  RetryBudget budget{RetryBudgetPolicy(), 1};
};

TEST_F(RetryDecisionTest, AListedStatusIsRetriedAfterTheBackoff) {
  ExpectRetry(Failed(), absl::Milliseconds(100));
  ExpectRetry(Failed(), absl::Milliseconds(200));
}

TEST_F(RetryDecisionTest, A4_AnUnlistedStatusPasses) {
  ExpectPass(Failed(StatusCode::kInternal));
  ExpectPass(Failed(StatusCode::kResourceExhausted));
}

TEST_F(RetryDecisionTest, ASuccessPassesWhateverItsTrailersSay) {
  policy.retry.codes.Add(StatusCode::kOk);
  ExpectPass(Failed(StatusCode::kOk));
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kLevee, OverloadScope::kService);
  outcome.code = StatusCode::kOk;
  ExpectPass(outcome);
}

TEST_F(RetryDecisionTest, EachFailureHasItsTrigger) {
  facts.transparent_used = true;
  EXPECT_EQ(Decide(Failed()).trigger, RetryTrigger::kStatus);
  EXPECT_EQ(Decide(Outcome(Kind::kHttp)).trigger, RetryTrigger::kHttp);
  EXPECT_EQ(Decide(Outcome(Kind::kRefused)).trigger, RetryTrigger::kRefused);
  EXPECT_EQ(Decide(Outcome(Kind::kConnect)).trigger, RetryTrigger::kConnect);
  EXPECT_EQ(Decide(Outcome(Kind::kReset)).trigger, RetryTrigger::kReset);
  EXPECT_EQ(Decide(Outcome(Kind::kTimeout)).trigger, RetryTrigger::kTimeout);
}

TEST_F(RetryDecisionTest, A11_AnHttpAnswerIsRetriedByItsMappedCode) {
  EXPECT_EQ(Decide(Outcome(Kind::kHttp, StatusCode::kUnavailable)).action, Action::kRetry);
  ExpectPass(Outcome(Kind::kHttp, StatusCode::kUnknown));
  policy.retry.codes = {};
  ExpectPass(Outcome(Kind::kHttp, StatusCode::kUnavailable));
}

TEST_F(RetryDecisionTest, FailuresThatAreNotListedPass) {
  policy.retry.failures = {.refused = false, .connect = false};
  facts.transparent_used = true;
  for (Kind kind : {Kind::kRefused, Kind::kConnect, Kind::kReset, Kind::kTimeout}) {
    ExpectPass(Outcome(kind));
  }
}

// The status that a reset maps to is no word of the server.
TEST_F(RetryDecisionTest, A55_CodesDoNotMakeAResetRetryable) {
  policy.retry.failures = {};
  ExpectPass(Outcome(Kind::kReset, StatusCode::kUnavailable));
}

TEST_F(RetryDecisionTest, A68_ResetsAndTimeoutsOfIdempotentCallsAreRetriedUnlisted) {
  policy.retry.failures = {};
  facts.idempotent = true;
  EXPECT_EQ(Decide(Outcome(Kind::kReset)).trigger, RetryTrigger::kReset);
  EXPECT_EQ(Decide(Outcome(Kind::kTimeout)).trigger, RetryTrigger::kTimeout);
}

TEST_F(RetryDecisionTest, A8_ACommittedCallIsNotRetried) {
  facts.committed = true;
  ExpectRefused(Failed(), RefusalReason::kCommitted);
  ExpectPass(Failed(StatusCode::kInternal));
}

TEST_F(RetryDecisionTest, A58_ACommittedCallIsNotRetriedTransparentlyEither) {
  facts.committed = true;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kCommitted);
  ExpectRefused(Outcome(Kind::kUnsent), RefusalReason::kCommitted);
}

TEST_F(RetryDecisionTest, A3_TheLastOfMaxAttemptsIsNotRetried) {
  facts.attempts = 3;
  EXPECT_EQ(Decide(Failed()).action, Action::kRetry);
  facts.attempts = 4;
  ExpectRefused(Failed(), RefusalReason::kMaxAttempts);
}

TEST_F(RetryDecisionTest, ABodyThatIsNoLongerBufferedIsNotReplayed) {
  facts.replayable = false;
  ExpectRefused(Failed(), RefusalReason::kBuffer);
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kBuffer);
  ExpectRefused(Outcome(Kind::kUnsent), RefusalReason::kBuffer);
}

TEST_F(RetryDecisionTest, A23_ABackoffThatEndsAtTheDeadlineIsNotBegun) {
  facts.deadline = now + absl::Milliseconds(100);
  ExpectRefused(Failed(), RefusalReason::kDeadline);
}

TEST_F(RetryDecisionTest, A23_ABackoffThatEndsBeforeTheDeadlineIs) {
  facts.deadline = now + absl::Milliseconds(100) + absl::Nanoseconds(1);
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A23_APushbackBeyondTheDeadlineIsNotWaitedFor) {
  facts.deadline = now + absl::Milliseconds(500);
  ExpectRefused(PushedBack({Pushback::Kind::kDelay, absl::Seconds(1)}), RefusalReason::kDeadline);
}

TEST_F(RetryDecisionTest, A33_PushbackIsTheExactDelay) {
  policy.retry.backoff.jitter = Jitter::kFull;
  ExpectRetry(PushedBack({Pushback::Kind::kDelay, absl::Seconds(1)}), absl::Seconds(1));
}

TEST_F(RetryDecisionTest, A34_PushbackOfZeroRetriesAtOnce) {
  ExpectRetry(PushedBack({Pushback::Kind::kDelay, absl::ZeroDuration()}), absl::ZeroDuration());
}

TEST_F(RetryDecisionTest, A35_TheFailureAfterAPushbackStartsAgainAtInitial) {
  ExpectRetry(Failed(), absl::Milliseconds(100));
  ExpectRetry(Failed(), absl::Milliseconds(200));
  ExpectRetry(PushedBack({Pushback::Kind::kDelay, absl::Seconds(3)}), absl::Seconds(3));
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A36_ANegativePushbackEndsRetrying) {
  ExpectRefused(Marked(OverloadMark::Signal::kPushback, OverloadScope::kService),
                RefusalReason::kPushback);
}

TEST_F(RetryDecisionTest, A39_APushbackOnAnUnlistedFailureChangesNothing) {
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kPushback, OverloadScope::kService);
  outcome.code = StatusCode::kInternal;
  ExpectPass(outcome);
  outcome.mark.reset();
  outcome.pushback = {Pushback::Kind::kDelay, absl::Seconds(1)};
  ExpectPass(outcome);
}

TEST_F(RetryDecisionTest, A39_APushbackOnACommittedCallChangesNothing) {
  facts.committed = true;
  ExpectRefused(PushedBack({Pushback::Kind::kDelay, absl::Seconds(1)}), RefusalReason::kCommitted);
}

TEST_F(RetryDecisionTest, ANegativePushbackThatIsNotHonouredLeavesTheDelayToTheBackoff) {
  ExpectRetry(PushedBack({Pushback::Kind::kDoNotRetry}), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A40_AdviceAboveMaxAdviceEndsRetrying) {
  ExpectRetry(PushedBack({Pushback::Kind::kDelay, absl::Seconds(60)}), absl::Seconds(60));
  ExpectRefused(PushedBack({Pushback::Kind::kDelay, absl::Milliseconds(60'001)}),
                RefusalReason::kAdvice);
}

TEST_F(RetryDecisionTest, A43_OnlyARetryThatIsMadeIsCharged) {
  facts.deadline = now + absl::Milliseconds(50);
  ExpectRefused(Failed(), RefusalReason::kDeadline);
  facts.deadline = Instant::Infinite();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Decide(Failed()).action, Action::kRetry);
  ExpectRefused(Failed(), RefusalReason::kBudget);
}

TEST_F(RetryDecisionTest, A44_ARetryRefusedByTheBudgetIsNotQueued) {
  UseUpBudget();
  ExpectRefused(Failed(), RefusalReason::kBudget);
}

TEST_F(RetryDecisionTest, A52_AStreamNeverWrittenIsSentAgainFreeOfCharge) {
  UseUpBudget();
  policy.retry.max_attempts = 1;
  facts.transparent_used = true;
  for (int i = 0; i < 3; ++i) ExpectTransparent(Outcome(Kind::kUnsent), 0);
}

TEST_F(RetryDecisionTest, A53_ARefusedStreamIsRetriedAtOnceAndTheSecondGoesToThePolicy) {
  ExpectTransparent(Outcome(Kind::kRefused), 1);
  facts.transparent_used = true;
  ExpectRetry(Outcome(Kind::kRefused), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A53_TheImmediateRetryNeedsNoListing) {
  policy.retry.failures.refused = false;
  ExpectTransparent(Outcome(Kind::kRefused), 1);
  facts.transparent_used = true;
  ExpectPass(Outcome(Kind::kRefused));
}

TEST_F(RetryDecisionTest, A56_TheImmediateRetryDoesNotDrawABackoff) {
  ExpectTransparent(Outcome(Kind::kRefused), 1);
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A57_TheImmediateRetryWorksWithMaxAttemptsOne) {
  policy.retry.max_attempts = 1;
  ExpectTransparent(Outcome(Kind::kRefused), 1);
  facts.transparent_used = true;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kMaxAttempts);
}

TEST_F(RetryDecisionTest, A47_TheImmediateRetryIsChargedToTheBudget) {
  UseUpBudget();
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kBudget);
}

TEST_F(RetryDecisionTest, NothingIsSentAgainAfterTheDeadline) {
  facts.deadline = now;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kDeadline);
  ExpectRefused(Outcome(Kind::kUnsent), RefusalReason::kDeadline);
}

TEST_F(RetryDecisionTest, A63_AServiceMarkEndsRetryingWhateverTheCode) {
  for (auto signal : {OverloadMark::Signal::kLevee, OverloadMark::Signal::kErrorInfo}) {
    AttemptOutcome outcome = Marked(signal, OverloadScope::kService);
    ExpectRefused(outcome, RefusalReason::kOverloadMark);
    outcome.code = StatusCode::kResourceExhausted;
    ExpectRefused(outcome, RefusalReason::kOverloadMark);
  }
}

TEST_F(RetryDecisionTest, A63_AnEndpointMarkIsRetriedElsewhereOnly) {
  for (auto signal : {OverloadMark::Signal::kLevee, OverloadMark::Signal::kErrorInfo,
                      OverloadMark::Signal::kEnvoy}) {
    EXPECT_EQ(Decide(Marked(signal, OverloadScope::kEndpoint, true)).action, Action::kRetry);
    ExpectRefused(Marked(signal, OverloadScope::kEndpoint, false), RefusalReason::kOverloadMark);
  }
}

TEST_F(RetryDecisionTest, AnEndpointMarkDoesNotMakeAFailureRetryable) {
  for (bool other_endpoint : {false, true}) {
    AttemptOutcome outcome =
        Marked(OverloadMark::Signal::kLevee, OverloadScope::kEndpoint, other_endpoint);
    outcome.code = StatusCode::kInternal;
    ExpectPass(outcome);
  }
}

TEST_F(RetryDecisionTest, NeverIdempotentCallsAreRetriedOnlyWhereSurelyNotProcessed) {
  policy.idempotency = IdempotencyMode::kNever;
  ExpectRefused(Failed(), RefusalReason::kNotIdempotent);
  ExpectRefused(Outcome(Kind::kHttp), RefusalReason::kNotIdempotent);
  ExpectRefused(Outcome(Kind::kReset), RefusalReason::kNotIdempotent);
  ExpectRefused(Outcome(Kind::kTimeout), RefusalReason::kNotIdempotent);
  ExpectPass(Failed(StatusCode::kInternal));
  ExpectTransparent(Outcome(Kind::kUnsent), 0);
  ExpectTransparent(Outcome(Kind::kRefused), 1);
  facts.transparent_used = true;
  ExpectRetry(Outcome(Kind::kRefused), absl::Milliseconds(100));
  ExpectRetry(Outcome(Kind::kConnect), absl::Milliseconds(200));
}

// Everything forbids the retry at once; fixing one after the other shows the order.
TEST_F(RetryDecisionTest, TheFirstCheckThatFailsNamesTheReason) {
  UseUpBudget();
  policy.idempotency = IdempotencyMode::kNever;
  facts = {.attempts = 4, .committed = true, .replayable = false, .deadline = now};
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kLevee, OverloadScope::kService);
  outcome.pushback = {Pushback::Kind::kDelay, absl::Hours(1)};
  ExpectRefused(outcome, RefusalReason::kCommitted);
  facts.committed = false;
  ExpectRefused(outcome, RefusalReason::kOverloadMark);
  outcome.mark.reset();
  ExpectRefused(outcome, RefusalReason::kNotIdempotent);
  policy.idempotency = IdempotencyMode::kAuto;
  ExpectRefused(outcome, RefusalReason::kMaxAttempts);
  facts.attempts = 1;
  ExpectRefused(outcome, RefusalReason::kBuffer);
  facts.replayable = true;
  ExpectRefused(outcome, RefusalReason::kAdvice);
  outcome.pushback = {};
  ExpectRefused(outcome, RefusalReason::kDeadline);
  facts.deadline = Instant::Infinite();
  ExpectRefused(outcome, RefusalReason::kBudget);
}

}  // namespace
}  // namespace levee
