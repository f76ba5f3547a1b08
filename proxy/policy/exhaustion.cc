// SPDX-License-Identifier: Apache-2.0
// The table "When retrying ends without success", apart from the decision that leads to it.
#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "policy/retry_decision.h"

namespace levee {
namespace {

constexpr std::string_view kMessageStart = "overloaded, do not retry";

// The agreed answer repeats at most this much of the upstream's message. The mark stands in the
// same trailers, and clients refuse trailers of more than some kilobytes as a whole.
constexpr size_t kMaxOriginalBytes = 512;

// The rows of the table.
enum class Row { kOverloaded, kGivenUp, kUnchanged };

Row RowOf(RefusalReason reason, const AttemptOutcome& outcome, const ExhaustionFacts& facts) {
  switch (reason) {
    case RefusalReason::kBudget:
      // A service that cannot be reached is not overloaded, and callers learn why it cannot be. Nor
      // is it the budget that kept a call waiting until its deadline.
      if (outcome.kind == AttemptOutcome::Kind::kConnect) return Row::kGivenUp;
      return facts.wait && facts.wait->bounded ? Row::kGivenUp : Row::kOverloaded;
    case RefusalReason::kPushback:
    case RefusalReason::kThrottle:
      return Row::kOverloaded;
    case RefusalReason::kOverloadMark:
      // One instance spoke: the caller may still try another, so the answer stays the original.
      return outcome.mark && outcome.mark->scope == OverloadScope::kEndpoint ? Row::kGivenUp
                                                                             : Row::kOverloaded;
    case RefusalReason::kMaxAttempts:
    case RefusalReason::kMaxElapsed:
    case RefusalReason::kAdvice:
      return Row::kGivenUp;
    case RefusalReason::kDeadline:
    case RefusalReason::kCommitted:
    case RefusalReason::kBuffer:
    case RefusalReason::kNotIdempotent:
    case RefusalReason::kDraining:
    case RefusalReason::kObserve:
      return Row::kUnchanged;
  }
  return Row::kUnchanged;
}

// Returns the row whose form the answer takes.
Row FormOf(ExhaustedMode mode, Row row) {
  if (row == Row::kUnchanged) return row;
  switch (mode) {
    case ExhaustedMode::kAuto:
      return row;
    case ExhaustedMode::kReplace:
      return Row::kOverloaded;
    case ExhaustedMode::kMark:
      return Row::kGivenUp;
    case ExhaustedMode::kKeep:
      return Row::kUnchanged;
  }
  return row;
}

// Whether the mark that stopped the call came from a sidecar and is passed on.
bool IsPassedOn(const AttemptOutcome& outcome, RefusalReason reason) {
  return reason == RefusalReason::kOverloadMark && outcome.mark &&
         outcome.mark->signal != OverloadMark::Signal::kEnvoy;
}

OverloadScope ScopeOfGivenUp(const AttemptOutcome& outcome, RefusalReason reason,
                             const ExhaustionFacts& facts) {
  if (reason == RefusalReason::kPushback) return OverloadScope::kService;
  if (reason == RefusalReason::kOverloadMark && outcome.mark) return outcome.mark->scope;
  return facts.failed_endpoints >= 2 || facts.endpoints <= 1 ? OverloadScope::kService
                                                             : OverloadScope::kEndpoint;
}

OverloadMark MarkOf(const AttemptOutcome& outcome, RefusalReason reason,
                    const ExhaustionFacts& facts) {
  OverloadMark mark;
  if (IsPassedOn(outcome, reason)) {
    mark = *outcome.mark;
    mark.signal = OverloadMark::Signal::kLevee;
    mark.hops = std::min(mark.hops + 1, kMaxOverloadHops);
  }
  if (mark.reason.empty()) mark.reason = RefusalReasonName(reason);
  if (mark.upstream.empty()) mark.upstream = facts.upstream;
  return mark;
}

// Appends how often the call was tried, how long it waited, and what its last failure was.
void AppendHistory(const AttemptOutcome& outcome, const ExhaustionFacts& facts, std::string& text) {
  text.append(" after ").append(std::to_string(facts.attempts));
  text.append(facts.attempts == 1 ? " attempt" : " attempts");
  text.append(", last ").append(StatusCodeName(outcome.code));
  if (facts.wait && !facts.wait->endpoint.empty()) text.append(" at ").append(facts.wait->endpoint);
  if (outcome.message.empty()) return;
  text.append(": ").append(Utf8Beginning(outcome.message, kMaxOriginalBytes));
  if (outcome.message.size() > kMaxOriginalBytes) text.append(" ...");
}

void AppendWait(absl::Duration waited, std::string& text) {
  text.append("waited ").append(std::to_string(absl::ToInt64Milliseconds(waited)));
  text.append(" ms for a success");
}

// The message of a failure that is passed on as it was.
std::string OriginalMessage(const AttemptOutcome& outcome, const ExhaustionFacts& facts) {
  if (!facts.wait) return outcome.message;
  std::string text;
  AppendWait(facts.wait->waited, text);
  AppendHistory(outcome, facts, text);
  return text;
}

std::string OverloadedMessage(const AttemptOutcome& outcome, RefusalReason reason,
                              const ExhaustionFacts& facts) {
  // The message of the sidecar below already says it; nesting would grow with every hop.
  if (IsPassedOn(outcome, reason) && outcome.message.starts_with(kMessageStart)) {
    return outcome.message;
  }
  constexpr size_t kLongestPhrases = 128;
  std::string text;
  text.reserve(kMessageStart.size() + kLongestPhrases +
               std::min(outcome.message.size(), kMaxOriginalBytes));
  text.append(kMessageStart).append(": ").append(RefusalReasonPhrase(reason));
  if (facts.wait) AppendWait(facts.wait->waited, text.append(", "));
  AppendHistory(outcome, facts, text);
  return text;
}

}  // namespace

FinalAnswer AnswerWhenExhausted(ExhaustedMode mode, const OverloadPolicy& overload,
                                const AttemptOutcome& outcome, std::optional<RefusalReason> reason,
                                const ExhaustionFacts& facts) {
  FinalAnswer answer;
  const Row form = reason ? FormOf(mode, RowOf(*reason, outcome, facts)) : Row::kUnchanged;
  if (form != Row::kOverloaded) answer.code = outcome.code;
  if (form == Row::kUnchanged) {
    answer.message = outcome.message;
    return answer;
  }

  answer.marked = true;
  answer.mark = MarkOf(outcome, *reason, facts);
  if (form == Row::kOverloaded) {
    answer.code = overload.status;
    answer.message = OverloadedMessage(outcome, *reason, facts);
    answer.mark.scope = OverloadScope::kService;
  } else {
    answer.message = OriginalMessage(outcome, facts);
    answer.mark.scope = ScopeOfGivenUp(outcome, *reason, facts);
  }
  return answer;
}

}  // namespace levee
