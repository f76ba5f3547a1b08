// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_decision.h"

#include "gtest/gtest.h"
#include "policy/retry_decision_fixture.h"

namespace levee {
namespace {

using Action = RetryDecision::Action;
using Kind = AttemptOutcome::Kind;

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
  facts.answered = true;
  ExpectRefused(Failed(), RefusalReason::kCommitted);
  ExpectPass(Failed(StatusCode::kInternal));
}

TEST_F(RetryDecisionTest, A58_ACommittedCallIsNotRetriedTransparentlyEither) {
  facts.answered = true;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kCommitted);
  ExpectRefused(Outcome(Kind::kUnsent), RefusalReason::kCommitted);
}

TEST_F(RetryDecisionTest, A3_TheLastOfMaxAttemptsIsNotRetried) {
  facts.attempts = 3;
  EXPECT_EQ(Decide(Failed()).action, Action::kRetry);
  facts.attempts = 4;
  ExpectRefused(Failed(), RefusalReason::kMaxAttempts);
}

TEST_F(RetryDecisionTest, AFailureInFrontOfTheApplicationGoesToTheCallerAsItIs) {
  facts.inbound = true;
  ExpectPass(Failed());
  EXPECT_EQ(Decide(Outcome(Kind::kRefused)).action, Action::kRetry);
  facts.transparent_used = true;
  ExpectPass(Outcome(Kind::kRefused));
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
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.transparent_used = true;
  ExpectRetry(Outcome(Kind::kRefused), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A53_TheImmediateRetryNeedsNoListing) {
  policy.retry.failures.refused = false;
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.transparent_used = true;
  ExpectPass(Outcome(Kind::kRefused));
}

TEST_F(RetryDecisionTest, A56_TheImmediateRetryDoesNotDrawABackoff) {
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  ExpectRetry(Failed(), absl::Milliseconds(100));
}

TEST_F(RetryDecisionTest, A57_TheImmediateRetryWorksWithMaxAttemptsOne) {
  policy.retry.max_attempts = 1;
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.transparent_used = true;
  ExpectRefused(Outcome(Kind::kRefused), RefusalReason::kMaxAttempts);
}

TEST_F(RetryDecisionTest, A47_TheImmediateRetryIsChargedWhereHalfOfTheStreamsAreRefused) {
  RefuseStreams();
  ExpectTransparent(Outcome(Kind::kRefused), 1);
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

TEST_F(RetryDecisionTest, ALeveesEndpointMarkSendsACallToAnotherEndpointAtOnceWhateverTheCode) {
  const auto marked = [](OverloadMark::Signal signal, bool other_endpoint) {
    AttemptOutcome outcome = Marked(signal, OverloadScope::kEndpoint, other_endpoint);
    outcome.code = StatusCode::kResourceExhausted;
    outcome.pushback = {Pushback::Kind::kDelay, absl::Milliseconds(7)};
    return outcome;
  };
  const RetryDecision decision = Decide(marked(OverloadMark::Signal::kLevee, true));
  EXPECT_EQ(decision.action, Action::kRetry);
  EXPECT_EQ(decision.delay, absl::ZeroDuration());
  EXPECT_FALSE(decision.backed_off);
  EXPECT_EQ(Retries(), 1) << "within the budget";
  ExpectRefused(marked(OverloadMark::Signal::kLevee, false), RefusalReason::kOverloadMark);
  ExpectPass(marked(OverloadMark::Signal::kEnvoy, true));
}

TEST_F(RetryDecisionTest, OnlyAGuardsEndpointMarkSaysThatTheCallWasSurelyNotProcessed) {
  policy.idempotency = IdempotencyMode::kNever;
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kLevee, OverloadScope::kEndpoint);
  outcome.mark->reason = "max_attempts";
  ExpectRefused(outcome, RefusalReason::kNotIdempotent);
  for (const char* reason : {"queue", "concurrency"}) {
    outcome.mark->reason = reason;
    EXPECT_EQ(Decide(outcome).action, Action::kRetry) << reason;
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
  ExpectTransparent(Outcome(Kind::kRefused), 0);
  facts.transparent_used = true;
  ExpectRetry(Outcome(Kind::kRefused), absl::Milliseconds(100));
  ExpectRetry(Outcome(Kind::kConnect), absl::Milliseconds(200));
}

// Everything forbids the retry at once; fixing one after the other shows the order.
TEST_F(RetryDecisionTest, TheFirstCheckThatFailsNamesTheReason) {
  UseUpBudget();
  policy.idempotency = IdempotencyMode::kNever;
  policy.retry.mode = RetryMode::kObserve;
  policy.retry.backoff.max_elapsed = absl::Seconds(1);
  facts = {.attempts = 4, .answered = true, .replayable = false, .deadline = now};
  AttemptOutcome outcome = Marked(OverloadMark::Signal::kLevee, OverloadScope::kService);
  outcome.pushback = {Pushback::Kind::kDelay, absl::Hours(1)};
  ExpectRefused(outcome, RefusalReason::kCommitted);
  facts.answered = false;
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
  ExpectRefused(outcome, RefusalReason::kMaxElapsed);
  facts.first_start = now;
  ExpectRefused(outcome, RefusalReason::kDeadline);
  facts.deadline = Instant::Infinite();
  ExpectRefused(outcome, RefusalReason::kBudget);
}

}  // namespace
}  // namespace levee
