// SPDX-License-Identifier: Apache-2.0
#include "import/istio_retry.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "import/attempts.h"
#include "import/envoy_retry_on.h"

namespace levee::importer {
namespace {

// Istio's defaults, with which it also retries where a route says nothing of retries.
constexpr int64_t kDefaultRetries = 2;
constexpr char kDefaultRetryOn[] = "connect-failure,refused-stream,unavailable,cancelled,503";
constexpr absl::Duration kDefaultBackoff = absl::Milliseconds(25);
constexpr int kMaxOverBase = 10;

// Istio takes statuses among the words.
void ReadRetryOn(const std::string& retry_on, RetryDraft& retry) {
  std::vector<std::string> words, statuses;
  for (absl::string_view part : absl::StrSplit(retry_on, ',', absl::SkipWhitespace())) {
    const std::string word(absl::StripAsciiWhitespace(part));
    int status = 0;
    if (!absl::SimpleAtoi(word, &status)) {
      words.push_back(word);
    } else if (status >= 400 && status <= 599) {
      AddStatuses(status, status, statuses);
    } else {
      retry.notes.push_back(absl::StrCat("retryOn: ", status, " has no equivalent."));
    }
  }
  const auto given = std::find(words.begin(), words.end(), "retriable-status-codes");
  if (!statuses.empty() && given == words.end()) words.emplace_back("retriable-status-codes");
  SetRetryOn(absl::StrJoin(words, ","), statuses, retry);
}

void ReadIstioBackoff(Section& section, Field<BackoffDraft>& field) {
  const absl::Duration base = section.Duration("backoff").value_or(kDefaultBackoff);
  if (base == absl::ZeroDuration()) {
    section.Refuse("backoff", "must be above 0s");
    return;
  }
  BackoffDraft backoff;
  backoff.initial = Bounded(base, field.notes);
  backoff.max = Bounded(base * kMaxOverBase, field.notes);
  field.value = backoff;
}

void NoteOtherRetryFields(Section& section, Notes& notes) {
  const std::optional<bool> previous = section.Flag("retryIgnorePreviousHosts");
  if (previous.has_value()) {
    notes.emplace_back(
        "retryIgnorePreviousHosts: Levee avoids the endpoints that failed in any case.");
  }
  if (section.Get("retryRemoteLocalities").has_value()) {
    notes.emplace_back("retryRemoteLocalities has no equivalent: Levee knows no localities.");
  }
  AddNote(section.Unread(), notes);
}

RetryDraft ReadRetries(Section& section) {
  RetryDraft retry;
  retry.max_attempts = ReadAttemptsOf(section, "attempts", kDefaultRetries);
  SetPositive(section, "perTryTimeout", retry.attempt_timeout);
  const std::string retry_on = section.Text("retryOn").value_or("");
  ReadRetryOn(retry_on.empty() ? kDefaultRetryOn : retry_on, retry);
  ReadIstioBackoff(section, retry.backoff);
  NoteOtherRetryFields(section, retry.notes);
  retry.commit.value = "headers";
  StopWithoutConditions(retry);
  if (retry.max_attempts.value == 1) DropRetries(retry);
  return retry;
}

RetryDraft DefaultRetries() {
  RetryDraft retry;
  retry.max_attempts = AttemptsOf(kDefaultRetries, "attempts");
  retry.max_attempts.notes.emplace_back("Istio's default for a route without retries.");
  ReadRetryOn(kDefaultRetryOn, retry);
  retry.backoff.value =
      BackoffDraft{.initial = kDefaultBackoff, .max = kDefaultBackoff * kMaxOverBase, .add = {}};
  retry.commit.value = "headers";
  return retry;
}

}  // namespace

PolicyRules ReadIstioRules(Section& http) {
  PolicyRules rules;
  SetPositive(http, "timeout", rules.timeout);
  std::optional<Section> retries = http.Map("retries");
  rules.retry = retries.has_value() ? ReadRetries(*retries) : DefaultRetries();
  return rules;
}

}  // namespace levee::importer
