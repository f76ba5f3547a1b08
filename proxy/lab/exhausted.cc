// SPDX-License-Identifier: Apache-2.0
#include "lab/exhausted.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policy/retry_decision.h"

namespace levee {
namespace {

struct Case {
  RefusalReason reason;
  std::optional<OverloadScope> mark = std::nullopt;  // that the upstream sent
  AttemptOutcome::Kind kind = AttemptOutcome::Kind::kStatus;
};

constexpr Case kCases[] = {
    {RefusalReason::kBudget},
    {RefusalReason::kBudget, std::nullopt, AttemptOutcome::Kind::kConnect},
    {RefusalReason::kThrottle},
    {RefusalReason::kPushback},
    {RefusalReason::kOverloadMark, OverloadScope::kService},
    {RefusalReason::kOverloadMark, OverloadScope::kEndpoint},
    {RefusalReason::kMaxAttempts},
    {RefusalReason::kMaxElapsed},
    {RefusalReason::kAdvice},
    {RefusalReason::kDeadline},
    {RefusalReason::kBuffer},
    {RefusalReason::kCommitted},
    {RefusalReason::kNotIdempotent},
    {RefusalReason::kDraining},
    {RefusalReason::kObserve},
};

const char* ScopeName(OverloadScope scope) {
  return scope == OverloadScope::kService ? "service" : "endpoint";
}

std::string NameOf(const Case& each) {
  const std::string name(RefusalReasonName(each.reason));
  if (each.kind == AttemptOutcome::Kind::kConnect) return absl::StrCat(name, " (no connection)");
  return each.mark.has_value() ? absl::StrCat(name, " (", ScopeName(*each.mark), ")") : name;
}

std::string AnswerOf(ExhaustedMode mode, const OverloadPolicy& overload, const Case& each) {
  AttemptOutcome outcome = {.kind = each.kind, .code = StatusCode::kUnavailable};
  if (each.mark.has_value()) outcome.mark = OverloadMark{.scope = *each.mark};
  ExhaustionFacts facts = {.endpoints = 3};
  // Without a connection no endpoint of all could be reached.
  if (each.kind == AttemptOutcome::Kind::kConnect) facts.failed_endpoints = facts.endpoints;
  const FinalAnswer one = AnswerWhenExhausted(mode, overload, outcome, each.reason, facts);
  facts.failed_endpoints = std::max(facts.failed_endpoints, 2);
  const FinalAnswer two = AnswerWhenExhausted(mode, overload, outcome, each.reason, facts);
  if (!one.marked) return "the failure unchanged";
  // The agreed code may be the code of the failure, too; only a new message tells them apart.
  const bool original = one.code == outcome.code && one.message == outcome.message;
  std::string answer =
      original ? "the failure's code and message" : std::string(StatusCodeName(one.code));
  absl::StrAppend(&answer, " with the overload signal, scope ", ScopeName(one.mark.scope));
  if (one.mark.scope != two.mark.scope) {
    absl::StrAppend(&answer, ", or ", ScopeName(two.mark.scope),
                    " if two endpoints failed or if there is only one");
  }
  return answer;
}

}  // namespace

std::vector<ExhaustedRow> TabulateExhausted(ExhaustedMode mode, const OverloadPolicy& overload) {
  std::vector<ExhaustedRow> rows;
  for (const Case& each : kCases) {
    std::string answer = AnswerOf(mode, overload, each);
    const auto same = std::find_if(rows.begin(), rows.end(), [&answer](const ExhaustedRow& row) {
      return row.answer == answer;
    });
    ExhaustedRow& row =
        same == rows.end() ? rows.emplace_back(ExhaustedRow{{}, std::move(answer)}) : *same;
    row.why.push_back(NameOf(each));
  }
  return rows;
}

}  // namespace levee
