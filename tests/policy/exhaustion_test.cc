// SPDX-License-Identifier: Apache-2.0
// The table "When retrying ends without success": A62 and A63.
#include <set>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "gtest/gtest.h"
#include "policy/retry_decision.h"
#include "wire/percent_encoding.h"

namespace levee {
namespace {

using Signal = OverloadMark::Signal;

const std::vector<RefusalReason> kOverloadedReasons = {
    RefusalReason::kBudget, RefusalReason::kOverloadMark, RefusalReason::kPushback,
    RefusalReason::kThrottle};
const std::vector<RefusalReason> kGivenUpReasons = {
    RefusalReason::kMaxAttempts, RefusalReason::kMaxElapsed, RefusalReason::kAdvice};
const std::vector<RefusalReason> kUnchangedReasons = {
    RefusalReason::kDeadline,      RefusalReason::kBuffer,   RefusalReason::kCommitted,
    RefusalReason::kNotIdempotent, RefusalReason::kDraining, RefusalReason::kObserve};

AttemptOutcome Refusal() {
  AttemptOutcome outcome;
  outcome.code = StatusCode::kUnavailable;
  outcome.message = "connection refused";
  return outcome;
}

AttemptOutcome Received(Signal signal, OverloadScope scope, int hops = 1) {
  AttemptOutcome outcome = Refusal();
  outcome.mark = OverloadMark{signal, scope, "budget", "stock", hops};
  return outcome;
}

const ExhaustionFacts kFacts = {
    .attempts = 2, .failed_endpoints = 2, .endpoints = 3, .upstream = "cart"};

FinalAnswer Answer(ExhaustedMode mode, std::optional<RefusalReason> reason,
                   const AttemptOutcome& outcome = Refusal(),
                   const ExhaustionFacts& facts = kFacts) {
  return AnswerWhenExhausted(mode, OverloadPolicy(), outcome, reason, facts);
}

void ExpectUnchanged(const FinalAnswer& answer) {
  EXPECT_FALSE(answer.marked);
  EXPECT_EQ(answer.code, StatusCode::kUnavailable);
  EXPECT_EQ(answer.message, "connection refused");
}

void ExpectOverloaded(const FinalAnswer& answer) {
  EXPECT_TRUE(answer.marked);
  EXPECT_EQ(answer.code, StatusCode::kResourceExhausted);
  EXPECT_EQ(answer.mark.scope, OverloadScope::kService);
  EXPECT_TRUE(answer.message.starts_with("overloaded, do not retry: ")) << answer.message;
  EXPECT_TRUE(answer.message.ends_with(" after 2 attempts, last UNAVAILABLE: connection refused"))
      << answer.message;
}

void ExpectOriginalWithMark(const FinalAnswer& answer) {
  EXPECT_TRUE(answer.marked);
  EXPECT_EQ(answer.code, StatusCode::kUnavailable);
  EXPECT_EQ(answer.message, "connection refused");
}

TEST(Exhaustion, A62_BudgetUsedUpGivesTheAgreedAnswer) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget);
  ExpectOverloaded(answer);
  EXPECT_EQ(answer.message,
            "overloaded, do not retry: budget used up after 2 attempts, "
            "last UNAVAILABLE: connection refused");
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=budget;upstream=cart;hops=1");
}

TEST(Exhaustion, A62_MaxAttemptsUsedUpKeepsTheOriginalAndAddsTheMark) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kMaxAttempts);
  ExpectOriginalWithMark(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=max_attempts;upstream=cart;hops=1");
}

TEST(Exhaustion, A62_EveryReasonHasItsRow) {
  std::set<RefusalReason> reasons;
  for (const auto* row : {&kOverloadedReasons, &kGivenUpReasons, &kUnchangedReasons}) {
    reasons.insert(row->begin(), row->end());
  }
  EXPECT_EQ(reasons.size(), static_cast<size_t>(kRefusalReasons));
}

TEST(Exhaustion, A62_AutoFollowsTheRows) {
  for (auto reason : kOverloadedReasons) ExpectOverloaded(Answer(ExhaustedMode::kAuto, reason));
  for (auto reason : kGivenUpReasons) ExpectOriginalWithMark(Answer(ExhaustedMode::kAuto, reason));
  for (auto reason : kUnchangedReasons) ExpectUnchanged(Answer(ExhaustedMode::kAuto, reason));
}

TEST(Exhaustion, A62_ReplaceGivesTheFirstRowForTheFirstTwo) {
  for (auto reason : kOverloadedReasons) ExpectOverloaded(Answer(ExhaustedMode::kReplace, reason));
  for (auto reason : kGivenUpReasons) ExpectOverloaded(Answer(ExhaustedMode::kReplace, reason));
  for (auto reason : kUnchangedReasons) ExpectUnchanged(Answer(ExhaustedMode::kReplace, reason));
}

TEST(Exhaustion, A62_MarkGivesTheSecondRowForTheFirstTwo) {
  for (auto reason : kOverloadedReasons) {
    ExpectOriginalWithMark(Answer(ExhaustedMode::kMark, reason));
  }
  for (auto reason : kGivenUpReasons) ExpectOriginalWithMark(Answer(ExhaustedMode::kMark, reason));
  for (auto reason : kUnchangedReasons) ExpectUnchanged(Answer(ExhaustedMode::kMark, reason));
}

TEST(Exhaustion, A62_KeepChangesNothing) {
  for (const auto* reasons : {&kOverloadedReasons, &kGivenUpReasons, &kUnchangedReasons}) {
    for (auto reason : *reasons) ExpectUnchanged(Answer(ExhaustedMode::kKeep, reason));
  }
}

TEST(Exhaustion, AServiceThatCannotBeReachedIsNotCalledOverloadedAndTheMarkGoesAllTheSame) {
  AttemptOutcome outcome = Refusal();
  outcome.kind = AttemptOutcome::Kind::kConnect;
  ExhaustionFacts facts = kFacts;
  facts.failed_endpoints = facts.endpoints;
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget, outcome, facts);
  ExpectOriginalWithMark(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=budget;upstream=cart;hops=1");
  ExpectOverloaded(Answer(ExhaustedMode::kReplace, RefusalReason::kBudget, outcome, facts));
  ExpectUnchanged(Answer(ExhaustedMode::kKeep, RefusalReason::kBudget, outcome, facts));
}

TEST(Exhaustion, AFailureThatIsNotRetryablePassesUnchangedInEveryMode) {
  for (auto mode : {ExhaustedMode::kAuto, ExhaustedMode::kReplace, ExhaustedMode::kMark,
                    ExhaustedMode::kKeep}) {
    ExpectUnchanged(Answer(mode, std::nullopt));
  }
}

TEST(Exhaustion, TheAgreedCodeIsConfigured) {
  const OverloadPolicy overload = {.status = StatusCode::kUnavailable, .honor = {}};
  EXPECT_EQ(
      AnswerWhenExhausted(ExhaustedMode::kAuto, overload, Refusal(), RefusalReason::kBudget, kFacts)
          .code,
      StatusCode::kUnavailable);
}

TEST(Exhaustion, TheMessageReadsWellForOneAttemptWithoutAText) {
  AttemptOutcome outcome = Refusal();
  outcome.message.clear();
  ExhaustionFacts facts = kFacts;
  facts.attempts = 1;
  EXPECT_EQ(Answer(ExhaustedMode::kAuto, RefusalReason::kBudget, outcome, facts).message,
            "overloaded, do not retry: budget used up after 1 attempt, last UNAVAILABLE");
}

TEST(Exhaustion, ScopeIsServiceOnceTwoEndpointsFailedOrThereIsButOne) {
  ExhaustionFacts facts = kFacts;
  const auto scope = [&facts](int failed_endpoints, int endpoints) {
    facts.failed_endpoints = failed_endpoints;
    facts.endpoints = endpoints;
    return Answer(ExhaustedMode::kAuto, RefusalReason::kMaxAttempts, Refusal(), facts).mark.scope;
  };
  EXPECT_EQ(scope(1, 1), OverloadScope::kService);
  EXPECT_EQ(scope(1, 2), OverloadScope::kEndpoint);
  EXPECT_EQ(scope(1, 3), OverloadScope::kEndpoint);
  EXPECT_EQ(scope(2, 3), OverloadScope::kService);
}

TEST(Exhaustion, A63_AServiceMarkIsPassedOnWithOneMoreHop) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark,
                                    Received(Signal::kLevee, OverloadScope::kService, 2));
  ExpectOverloaded(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=budget;upstream=stock;hops=3");
}

TEST(Exhaustion, A63_HopsStopAtTheirLimit) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark,
                                    Received(Signal::kLevee, OverloadScope::kService, 255));
  EXPECT_EQ(answer.mark.hops, 255);
}

TEST(Exhaustion, A63_AnErrorInfoIsPassedOnAsAMark) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark,
                                    Received(Signal::kErrorInfo, OverloadScope::kService));
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=budget;upstream=stock;hops=2");
}

TEST(Exhaustion, AMarkWithoutReasonOrUpstreamGetsOurs) {
  AttemptOutcome outcome = Received(Signal::kLevee, OverloadScope::kService);
  outcome.mark->reason.clear();
  outcome.mark->upstream.clear();
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark, outcome);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=overload_mark;upstream=cart;hops=2");
}

TEST(Exhaustion, A63_TheMessageOfASidecarBelowIsNotWrappedAgain) {
  AttemptOutcome outcome = Received(Signal::kLevee, OverloadScope::kService);
  outcome.code = StatusCode::kResourceExhausted;
  outcome.message = "overloaded, do not retry: budget used up after 3 attempts, last UNAVAILABLE";
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark, outcome);
  EXPECT_EQ(answer.message, outcome.message);
  EXPECT_EQ(answer.code, StatusCode::kResourceExhausted);
}

TEST(Exhaustion, A63_AnEndpointMarkKeepsTheOriginalAnswer) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark,
                                    Received(Signal::kLevee, OverloadScope::kEndpoint, 1));
  ExpectOriginalWithMark(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "endpoint;reason=budget;upstream=stock;hops=2");
}

TEST(Exhaustion, EnvoysSignalBecomesAMarkOfOurs) {
  AttemptOutcome outcome = Received(Signal::kEnvoy, OverloadScope::kEndpoint);
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kOverloadMark, outcome);
  ExpectOriginalWithMark(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "endpoint;reason=overload_mark;upstream=cart;hops=1");
}

TEST(Exhaustion, ANegativePushbackBecomesAMarkOfOurs) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kPushback,
                                    Received(Signal::kPushback, OverloadScope::kService));
  ExpectOverloaded(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=pushback;upstream=cart;hops=1");
}

// One instance asked for no more; then the budget ended the retry elsewhere. The budget speaks.
TEST(Exhaustion, AnEndpointMarkDoesNotNarrowARefusalByTheBudget) {
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget,
                                    Received(Signal::kLevee, OverloadScope::kEndpoint, 4));
  ExpectOverloaded(answer);
  EXPECT_EQ(FormatOverloadMark(answer.mark), "service;reason=budget;upstream=cart;hops=1");
}

TEST(Exhaustion, MarkModeKeepsTheScopeOfAReceivedMark) {
  ExhaustionFacts facts = kFacts;
  facts.failed_endpoints = 1;
  for (auto scope : {OverloadScope::kService, OverloadScope::kEndpoint}) {
    const FinalAnswer answer = Answer(ExhaustedMode::kMark, RefusalReason::kOverloadMark,
                                      Received(Signal::kLevee, scope), facts);
    ExpectOriginalWithMark(answer);
    EXPECT_EQ(answer.mark.scope, scope);
  }
  EXPECT_EQ(Answer(ExhaustedMode::kMark, RefusalReason::kPushback,
                   Received(Signal::kPushback, OverloadScope::kService), facts)
                .mark.scope,
            OverloadScope::kService);
}

TEST(Exhaustion, OfALongMessageTheAgreedAnswerRepeatsTheBeginning) {
  AttemptOutcome outcome = Refusal();
  outcome.message = std::string(6000, 'm');
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget, outcome);
  EXPECT_TRUE(answer.message.ends_with(": " + std::string(512, 'm') + " ...")) << answer.message;
}

TEST(Exhaustion, ALongMessageIsCutBetweenCharacters) {
  for (const std::string character : {"\xc3\xa9", "\xe2\x9c\x93", "\xf0\x9f\x8c\x8a"}) {
    for (size_t before = 0; before < 8; ++before) {
      AttemptOutcome outcome = Refusal();
      outcome.message = std::string(before, 'm');
      for (int i = 0; i < 600; ++i) outcome.message += character;
      const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget, outcome);
      EXPECT_EQ(FindInvalidUtf8(answer.message), std::string::npos) << answer.message;
      const size_t kept = answer.message.size() - answer.message.find(outcome.message.substr(0, 8));
      EXPECT_LE(kept, 512 + std::string_view(" ...").size());
      EXPECT_GT(kept, 512 + std::string_view(" ...").size() - character.size());
      // What the caller's library makes of the field is the same text.
      EXPECT_EQ(PercentDecode(PercentEncode(answer.message)), answer.message);
    }
  }
}

TEST(Exhaustion, BytesThatAreNoTextAreCutAnywhere) {
  AttemptOutcome outcome = Refusal();
  outcome.message = std::string(6000, '\xbf');
  const FinalAnswer answer = Answer(ExhaustedMode::kAuto, RefusalReason::kBudget, outcome);
  EXPECT_TRUE(answer.message.ends_with(": " + std::string(512, '\xbf') + " ..."));
}

}  // namespace
}  // namespace levee
