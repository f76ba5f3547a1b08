// SPDX-License-Identifier: Apache-2.0
#include "import/kgateway_traffic.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "import/attempts.h"
#include "import/envoy_rate_limit.h"
#include "import/envoy_retry_on.h"

namespace levee::importer {
namespace {

// kgateway's defaults for a policy with `retry`.
constexpr int64_t kKgatewayRetries = 1;
constexpr absl::Duration kKgatewayInterval = absl::Milliseconds(25);
constexpr int kMostOverBase = 10;

void ReadConditions(Section& retry, RetryDraft& draft) {
  std::vector<std::string> words = retry.Texts("retryOn");
  const std::vector<std::string> statuses = retry.Texts("statusCodes");
  if (!statuses.empty()) words.emplace_back("retriable-status-codes");
  SetRetryOn(absl::StrJoin(words, ","), statuses, draft);
}

RetryDraft ReadKgatewayRetry(Section retry) {
  RetryDraft draft;
  draft.max_attempts = ReadAttemptsOf(retry, "attempts", kKgatewayRetries);
  SetPositive(retry, "perTryTimeout", draft.attempt_timeout);
  ReadConditions(retry, draft);
  const absl::Duration base = retry.Duration("backoffBaseInterval").value_or(kKgatewayInterval);
  if (base == absl::ZeroDuration()) retry.Refuse("backoffBaseInterval", "must be above 0s");
  draft.backoff.value = BackoffDraft{.initial = Bounded(base, draft.backoff.notes),
                                     .max = Bounded(base * kMostOverBase, draft.backoff.notes)};
  draft.commit.value = "headers";
  AddNote(retry.Unread(), draft.notes);
  StopWithoutConditions(draft);
  if (draft.max_attempts.value == 1) DropRetries(draft);
  return draft;
}

void ReadLimit(Section limit, Field<std::vector<RateLimitDraft>>& field) {
  std::optional<Section> local = limit.Map("local");
  if (local.has_value()) {
    std::optional<Section> bucket = local->Map("tokenBucket");
    if (bucket.has_value()) {
      RateLimitDraft draft =
          ReadTokenBucket(*bucket, {"maxTokens", "tokensPerFill", "fillInterval"}, field.notes);
      draft.name = "gateway";
      field.value = {std::move(draft)};
    }
    AddNote(local->Unread(), field.notes);
  }
  NoteGlobalLimit(limit, field.notes);
  AddNote(limit.Unread(), field.notes);
}

}  // namespace

TrafficRules ReadKgatewayRules(Section& spec, const std::string& label) {
  TrafficRules rules;
  rules.label = label;
  Notes& notes = rules.timeout.notes;
  notes = {absl::StrCat("From ", label, ".")};
  if (auto retry = spec.Map("retry")) rules.retry = ReadKgatewayRetry(*std::move(retry));
  if (auto timeouts = spec.Map("timeouts")) {
    SetPositive(*timeouts, "request", rules.timeout);
    AddNote(timeouts->Unread(), notes);
  }
  if (auto limit = spec.Map("rateLimit")) ReadLimit(*std::move(limit), rules.rate_limit);
  AddNote(spec.Unread(), notes);
  return rules;
}

}  // namespace levee::importer
