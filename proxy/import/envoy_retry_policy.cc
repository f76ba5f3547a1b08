// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_retry_policy.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "import/attempts.h"
#include "import/envoy_retry_on.h"

namespace levee::importer {
namespace {

// Envoy's defaults for a retry_policy.
constexpr int kDefaultEnvoyRetries = 1;
constexpr absl::Duration kDefaultBaseInterval = absl::Milliseconds(25);
constexpr int kDefaultMaxOverBase = 10;

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

void ReadRetryOn(Section& policy, RetryDraft& retry) {
  const std::vector<std::string> statuses = ReadStatuses(policy, retry.http.notes);
  SetRetryOn(policy.Text("retry_on").value_or(""), statuses, retry);
}

void ReadEnvoyBackoff(Section& policy, Field<BackoffDraft>& field) {
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
    predicate.Ignore({"typed_config"});  // It has no fields, or is that of what has no equivalent.
    AddNote(predicate.Unread(), notes);
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

}  // namespace

RetryDraft ReadEnvoyRetryPolicy(Section policy) {
  RetryDraft retry;
  retry.max_attempts = ReadAttemptsOf(policy, "num_retries", kDefaultEnvoyRetries);
  SetPositive(policy, "per_try_timeout", retry.attempt_timeout);
  ReadRetryOn(policy, retry);
  ReadEnvoyBackoff(policy, retry.backoff);
  NoteTheRest(policy, retry.notes);
  retry.commit.value = "headers";
  StopWithoutConditions(retry);
  return retry;
}

}  // namespace levee::importer
