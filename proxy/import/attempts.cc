// SPDX-License-Identifier: Apache-2.0
#include "import/attempts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee::importer {
namespace {

void AddOnce(const std::string& status, std::vector<std::string>& http) {
  if (std::find(http.begin(), http.end(), status) == http.end()) http.push_back(status);
}

}  // namespace

Field<int> AttemptsOf(int64_t retries, const std::string& key) {
  Field<int> field;
  field.value = static_cast<int>(std::min<int64_t>(retries, kMostAttempts - 1) + 1);
  if (retries >= kMostAttempts) {
    field.notes.push_back(
        absl::StrCat(key, " is ", retries, "; Levee makes at most ", kMostAttempts, " attempts."));
  }
  return field;
}

Field<int> ReadAttemptsOf(Section& section, const std::string& key, int64_t otherwise) {
  const int64_t retries = section.Whole(key).value_or(otherwise);
  if (retries < 0) section.Refuse(key, "must not be negative");
  return AttemptsOf(std::max<int64_t>(retries, 0), key);
}

void SetPositive(Section& section, const std::string& key, Field<absl::Duration>& field) {
  const absl::Duration duration = section.Duration(key).value_or(absl::ZeroDuration());
  if (duration > absl::ZeroDuration()) SetDuration(duration, field);
}

void AddStatuses(int first, int last, std::vector<std::string>& http) {
  if (first <= 500 && last >= 599) {
    std::erase_if(http, [](const std::string& status) { return status.starts_with('5'); });
    AddOnce("5xx", http);
    last = 499;
  }
  const bool all = std::find(http.begin(), http.end(), "5xx") != http.end();
  for (int status = std::max(first, 400); status <= std::min(last, all ? 499 : 599); ++status) {
    AddOnce(absl::StrCat(status), http);
  }
}

void DropRetries(RetryDraft& retry) {
  retry = RetryDraft{.max_attempts = {1, std::move(retry.max_attempts.notes)},
                     .codes = {},
                     .failures = {},
                     .http = {},
                     .attempt_timeout = std::move(retry.attempt_timeout),
                     .backoff = {},
                     .budget = std::move(retry.budget),
                     .buffer_bytes = {},
                     .commit = {},
                     .notes = std::move(retry.notes)};
}

void TryOnceIfChanged(const Unsaid& unsaid, PolicyRules& rules) {
  if (unsaid.changes.empty()) return;
  DropRetries(rules.retry);
  rules.hedge = {};
}

}  // namespace levee::importer
