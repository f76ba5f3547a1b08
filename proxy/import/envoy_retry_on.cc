// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_retry_on.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "config/fault.h"

namespace levee::importer {
namespace {

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

}  // namespace

void SetRetryOn(const std::string& retry_on, const std::vector<std::string>& statuses,
                RetryDraft& retry) {
  std::vector<std::string> codes, http, failures;
  bool uses_statuses = false;
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

void StopWithoutConditions(RetryDraft& retry) {
  if (!retry.codes.value->empty() || retry.http.value.has_value() ||
      !retry.failures.value->empty()) {
    return;
  }
  retry.max_attempts = {1, {"retry_on names nothing that Levee retries."}};
  retry.codes.value.reset();
  retry.failures.value.reset();
  retry.backoff.value.reset();
  retry.commit.value.reset();
}

}  // namespace levee::importer
