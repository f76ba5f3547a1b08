// SPDX-License-Identifier: Apache-2.0
#include "import/gateway_retry.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "import/attempts.h"

namespace levee::importer {
namespace {

void ReadTimeouts(Section timeouts, PolicyRules& rules) {
  const std::optional<absl::Duration> request = timeouts.Duration("request");
  const std::optional<absl::Duration> attempt = timeouts.Duration("backendRequest");
  if (request == absl::ZeroDuration()) {
    rules.timeout.notes.emplace_back("timeouts.request is 0s, which means none.");
  } else if (request.has_value()) {
    SetDuration(*request, rules.timeout);
  }
  if (attempt == absl::ZeroDuration()) {
    rules.retry.attempt_timeout.notes.emplace_back(
        "timeouts.backendRequest is 0s, which means none.");
  } else if (attempt.has_value()) {
    SetDuration(*attempt, rules.retry.attempt_timeout);
    if (request.value_or(absl::ZeroDuration()) > absl::ZeroDuration() && *attempt > *request) {
      timeouts.Refuse("backendRequest", "must not be longer than request");
    }
  }
  AddNote(timeouts.Unread(), rules.timeout.notes);
}

void ReadAttempts(Section& retry, Field<int>& field) {
  const std::optional<int64_t> retries = retry.Whole("attempts");
  if (!retries.has_value()) {
    field.notes.emplace_back("retry has no attempts, so that Levee's default holds.");
    return;
  }
  if (*retries < 0) retry.Refuse("attempts", "must not be negative");
  field = AttemptsOf(std::max<int64_t>(*retries, 0), "attempts");
}

void ReadCodes(Section& retry, Field<std::vector<std::string>>& http) {
  std::vector<std::string> statuses;
  for (const Item& item : retry.List("codes")) {
    const std::optional<int64_t> code = retry.source().AsWhole(item);
    if (!code.has_value()) continue;
    if (*code < 400 || *code > 599) {
      retry.source().Refuse(item.place, absl::StrCat(*code, " is no status from 400 to 599"));
    }
    const std::string status = absl::StrCat(*code);
    if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) {
      statuses.push_back(status);
    }
  }
  if (!statuses.empty()) http.value = std::move(statuses);
}

void ReadGatewayBackoff(Section& retry, Field<BackoffDraft>& field) {
  constexpr int kMaxOverInitial = 10;
  const std::optional<absl::Duration> least = retry.Duration("backoff");
  if (!least.has_value()) return;
  if (*least == absl::ZeroDuration()) {
    field.notes.emplace_back("backoff is 0s; Levee's default is the least that it can mean.");
    return;
  }
  BackoffDraft backoff;
  backoff.initial = backoff.add = Bounded(*least, field.notes);
  backoff.max = Bounded(*least * kMaxOverInitial, field.notes);
  field.value = backoff;
  field.notes.emplace_back(
      "backoff is the least time between attempts. Here the jitter is added to it, and it grows "
      "with each retry.");
}

void ReadRetry(Section section, RetryDraft& retry) {
  ReadAttempts(section, retry.max_attempts);
  ReadCodes(section, retry.http);
  retry.codes.value.emplace();
  retry.codes.notes.emplace_back(
      "retry.codes are HTTP statuses, and a gRPC answer has 200 whatever its grpc-status is. Name "
      "the gRPC statuses here that are to be retried, such as UNAVAILABLE.");
  retry.failures.value = {"refused", "connect", "reset"};
  if (retry.attempt_timeout.value.has_value()) retry.failures.value->emplace_back("timeout");
  retry.failures.notes.emplace_back(
      "A lost connection is retried too, as the Gateway API asks: a call that had reached the "
      "service may run twice.");
  ReadGatewayBackoff(section, retry.backoff);
  AddNote(section.Unread(), retry.notes);
  if (retry.max_attempts.value == 1) DropRetries(retry);
}

}  // namespace

PolicyRules ReadHttpRules(Section& rule) {
  PolicyRules rules;
  std::optional<Section> timeouts = rule.Map("timeouts");
  if (timeouts.has_value()) ReadTimeouts(*std::move(timeouts), rules);
  std::optional<Section> retry = rule.Map("retry");
  if (retry.has_value()) {
    ReadRetry(*std::move(retry), rules.retry);
  } else {
    rules.retry.max_attempts.value = 1;
  }
  return rules;
}

}  // namespace levee::importer
