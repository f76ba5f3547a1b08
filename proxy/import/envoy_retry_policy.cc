// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_retry_policy.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace levee::importer {
namespace {

constexpr int kMostAttempts = 100;  // the most that a policy takes

// Envoy's defaults for a retry_policy.
constexpr int kDefaultRetries = 1;
constexpr absl::Duration kDefaultBaseInterval = absl::Milliseconds(25);
constexpr int kDefaultMaxOverBase = 10;

// The meaning of one word of retry_on for Levee; lists are separated by spaces.
struct Condition {
  std::string_view word;
  std::string_view codes;
  std::string_view http;
  std::string_view failures;
};

// From Envoy's router filter, "x-envoy-retry-on" and "x-envoy-retry-grpc-on". There a reset is any
// end without an answer, also of a connection that could not be opened, and also per_try_timeout.
constexpr std::array<Condition, 13> kConditions = {{
    {"cancelled", "CANCELLED", "", ""},
    {"deadline-exceeded", "DEADLINE_EXCEEDED", "", ""},
    {"internal", "INTERNAL", "", ""},
    {"resource-exhausted", "RESOURCE_EXHAUSTED", "", ""},
    {"unavailable", "UNAVAILABLE", "", ""},
    {"5xx", "", "5xx", "refused connect reset timeout"},
    {"gateway-error", "", "502 503 504", "refused connect reset timeout"},
    {"retriable-4xx", "", "409", ""},
    {"retriable-status-codes", "", "", ""},  // the list retriable_status_codes
    {"connect-failure", "", "", "connect"},
    {"refused-stream", "", "", "refused"},
    {"reset", "", "", "refused connect reset timeout"},
    {"reset-before-request", "", "", "connect"},
}};

std::vector<std::string> Words(std::string_view text) {
  return absl::StrSplit(Abseil(text), ' ', absl::SkipEmpty());
}

void AddOnce(const std::vector<std::string>& more, std::vector<std::string>& list) {
  for (const std::string& word : more) {
    if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
  }
}

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Returns the retriable_status_codes that are outcomes which Levee can retry.
std::vector<std::string> ReadStatuses(Section& policy, Notes& notes) {
  std::vector<std::string> statuses;
  for (const Item& item : policy.List("retriable_status_codes")) {
    const std::optional<int64_t> status = policy.source().AsWhole(item);
    if (!status.has_value()) continue;
    if (*status >= 400 && *status < 600) {
      statuses.push_back(absl::StrCat(*status));
    } else {
      notes.push_back(absl::StrCat("retriable_status_codes: ", *status,
                                   " has no equivalent: it is no failure."));
    }
  }
  return statuses;
}

// Returns the failures in the order of the configuration's documentation; `timeout` only if
// attempts have a timeout.
std::vector<std::string> InOrder(const std::vector<std::string>& failures, bool timeout) {
  std::vector<std::string> ordered;
  for (const char* failure : {"refused", "connect", "reset", "timeout"}) {
    if (failure == std::string_view("timeout") && !timeout) continue;
    if (Contains(failures, failure)) ordered.emplace_back(failure);
  }
  return ordered;
}

void ReadRetryOn(Section& policy, RetryDraft& retry) {
  std::vector<std::string> codes, http, failures;
  bool uses_statuses = false;
  const std::vector<std::string> statuses = ReadStatuses(policy, retry.http.notes);
  const std::string retry_on = policy.Text("retry_on").value_or("");
  for (const absl::string_view word : absl::StrSplit(retry_on, ',', absl::SkipWhitespace())) {
    const std::string name(absl::StripAsciiWhitespace(word));
    const auto condition = std::find_if(kConditions.begin(), kConditions.end(),
                                        [&name](const Condition& c) { return c.word == name; });
    if (condition == kConditions.end()) {
      retry.notes.push_back(absl::StrCat("retry_on: ", Quoted(name), " has no equivalent."));
      continue;
    }
    AddOnce(Words(condition->codes), codes);
    AddOnce(Words(condition->http), http);
    AddOnce(Words(condition->failures), failures);
    if (name == "retriable-status-codes") AddOnce(statuses, http);
    uses_statuses |= name == "retriable-status-codes";
  }
  if (!uses_statuses && !statuses.empty()) {
    retry.http.notes.emplace_back(
        "retriable_status_codes: Envoy uses them only if retry_on names retriable-status-codes.");
  }
  if (Contains(http, "5xx")) {
    std::erase_if(http, [](const std::string& s) { return s != "5xx" && s.starts_with('5'); });
  }
  retry.codes.value = codes;
  if (!http.empty()) retry.http.value = http;
  retry.failures.value = InOrder(failures, retry.attempt_timeout.value.has_value());
}

void ReadMaxAttempts(Section& policy, Field<int>& max_attempts) {
  const int64_t retries = policy.Whole("num_retries").value_or(kDefaultRetries);
  if (retries < 0) policy.Refuse("num_retries", "must not be negative");
  max_attempts.value = static_cast<int>(std::clamp<int64_t>(retries, 0, kMostAttempts - 1) + 1);
  if (retries >= kMostAttempts) {
    max_attempts.notes.push_back(
        absl::StrCat("num_retries is ", retries, "; Levee makes at most 100 attempts."));
  }
}

void ReadBackoff(Section& policy, Field<BackoffDraft>& field) {
  absl::Duration initial = kDefaultBaseInterval;
  absl::Duration max = initial * kDefaultMaxOverBase;
  std::optional<Section> section = policy.Map("retry_back_off");
  if (section.has_value()) {
    initial = section->Duration("base_interval").value_or(absl::ZeroDuration());
    if (initial <= absl::ZeroDuration()) {
      section->Refuse("base_interval", "must be given and above 0s");
    }
    max = section->Duration("max_interval").value_or(initial * kDefaultMaxOverBase);
    if (max < initial) section->Refuse("max_interval", "must be at least base_interval");
    AddNote(section->Unread(), field.notes);
  }
  field.value =
      BackoffDraft{.initial = Bounded(initial, field.notes), .max = Bounded(max, field.notes)};
}

// Notes the fields whose equivalent needs no field, or that have no equivalent.
void NoteTheRest(Section& policy, Notes& notes) {
  if (policy.Get("rate_limited_retry_back_off").has_value()) {
    notes.emplace_back(
        "rate_limited_retry_back_off has no equivalent: Levee waits as long as retry-after, "
        "grpc-retry-pushback-ms or RetryInfo say, and longer than backoff.max_advice (60s) ends "
        "retrying.");
  }
  for (Section& predicate : policy.Maps("retry_host_predicate")) {
    const std::string name = predicate.Text("name").value_or("");
    if (name.ends_with("previous_hosts")) {
      notes.emplace_back(
          "retry_host_predicate: Levee avoids the endpoints that failed in any case.");
    } else {
      notes.push_back(absl::StrCat("retry_host_predicate: ", Quoted(name), " has no equivalent."));
    }
  }
  if (policy.Get("host_selection_retry_max_attempts").has_value()) {
    notes.emplace_back(
        "host_selection_retry_max_attempts: Levee looks at every endpoint, so that it needs no "
        "bound.");
  }
  for (const char* key : {"per_try_idle_timeout", "retry_priority", "retriable_headers",
                          "retriable_request_headers", "retry_options_predicates"}) {
    if (policy.Get(key).has_value()) notes.push_back(absl::StrCat(key, " has no equivalent."));
  }
  AddNote(policy.Unread(), notes);
}

// For a policy that retries nothing that Levee could retry.
void StopRetrying(RetryDraft& retry) {
  retry.max_attempts = {1, {"retry_on names nothing that Levee retries."}};
  retry.codes.value.reset();
  retry.failures.value.reset();
  retry.backoff.value.reset();
  retry.commit.value.reset();
}

}  // namespace

RetryDraft ReadEnvoyRetryPolicy(Section policy) {
  RetryDraft retry;
  ReadMaxAttempts(policy, retry.max_attempts);
  const absl::Duration attempt =
      policy.Duration("per_try_timeout").value_or(absl::ZeroDuration());  // 0s: none
  if (attempt > absl::ZeroDuration()) SetDuration(attempt, retry.attempt_timeout);
  ReadRetryOn(policy, retry);
  ReadBackoff(policy, retry.backoff);
  NoteTheRest(policy, retry.notes);
  retry.commit.value = "headers";
  if (retry.codes.value->empty() && !retry.http.value.has_value() &&
      retry.failures.value->empty()) {
    StopRetrying(retry);
  }
  return retry;
}

}  // namespace levee::importer
