// SPDX-License-Identifier: Apache-2.0
#include "import/linkerd_annotations.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "import/attempts.h"

namespace levee::importer {
namespace {

constexpr char kHttp[] = "retry.linkerd.io/http";
constexpr char kGrpc[] = "retry.linkerd.io/grpc";
constexpr char kLimit[] = "retry.linkerd.io/limit";
constexpr char kRetryTimeout[] = "retry.linkerd.io/timeout";
constexpr char kRequest[] = "timeout.linkerd.io/request";
constexpr char kResponse[] = "timeout.linkerd.io/response";
constexpr char kIdle[] = "timeout.linkerd.io/idle";

constexpr char kAccrual[] = "balancer.linkerd.io/failure-accrual";
constexpr char kMaxFailures[] = "balancer.linkerd.io/failure-accrual-consecutive-max-failures";
constexpr char kMinPenalty[] = "balancer.linkerd.io/failure-accrual-consecutive-min-penalty";
constexpr char kMaxPenalty[] = "balancer.linkerd.io/failure-accrual-consecutive-max-penalty";
constexpr char kJitterRatio[] = "balancer.linkerd.io/failure-accrual-consecutive-jitter-ratio";

constexpr int64_t kDefaultLimit = 1;
constexpr int64_t kDefaultMaxFailures = 7;
constexpr int64_t kMostInARow = 1'000'000;  // the most that a policy takes

// Linkerd's only backoff.
const BackoffDraft kBackoff = {.initial = absl::Milliseconds(25),
                               .max = absl::Milliseconds(250),
                               .add = absl::Milliseconds(25)};

constexpr std::array<std::pair<const char*, const char*>, 5> kCodes = {{
    {"cancelled", "CANCELLED"},
    {"deadline-exceeded", "DEADLINE_EXCEEDED"},
    {"internal", "INTERNAL"},
    {"resource-exhausted", "RESOURCE_EXHAUSTED"},
    {"unavailable", "UNAVAILABLE"},
}};

std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    words.emplace_back(absl::StripAsciiWhitespace(word));
  }
  return words;
}

std::vector<std::string> ReadCodes(Section& annotations) {
  std::vector<std::string> codes;
  for (const std::string& word : WordsOf(annotations.Text(kGrpc).value_or(""))) {
    const auto known = std::find_if(kCodes.begin(), kCodes.end(),
                                    [&word](const auto& code) { return word == code.first; });
    if (known == kCodes.end()) {
      annotations.Refuse(kGrpc, absl::StrCat(Quoted(word),
                                             " is none of cancelled, deadline-exceeded, internal, "
                                             "resource-exhausted and unavailable"));
      continue;
    }
    codes.emplace_back(known->second);
  }
  return codes;
}

// Reads "504" or "500-504" into `http`; returns whether it is either.
bool ReadStatuses(const std::string& word, std::vector<std::string>& http) {
  const std::vector<std::string> ends = absl::StrSplit(word, '-');
  int first = 0, last = 0;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
      !absl::SimpleAtoi(ends.back(), &last) || first > last) {
    return false;
  }
  AddStatuses(first, last, http);
  return true;
}

std::vector<std::string> ReadHttp(Section& annotations) {
  std::vector<std::string> http;
  for (const std::string& word : WordsOf(annotations.Text(kHttp).value_or(""))) {
    if (word == "5xx") {
      AddStatuses(500, 599, http);
    } else if (word == "gateway-error") {
      AddStatuses(502, 504, http);
    } else if (!ReadStatuses(word, http)) {
      annotations.Refuse(kHttp, absl::StrCat(Quoted(word),
                                             " is no status, range of statuses, "
                                             "gateway-error or 5xx"));
    }
  }
  return http;
}

void ReadRetries(Section& annotations, RetryDraft& retry) {
  retry.max_attempts = ReadAttemptsOf(annotations, kLimit, kDefaultLimit);
  SetPositive(annotations, kRetryTimeout, retry.attempt_timeout);
  retry.codes.value = ReadCodes(annotations);
  std::vector<std::string> http = ReadHttp(annotations);
  if (!http.empty()) retry.http.value = std::move(http);
  retry.failures.value.emplace();
  if (retry.attempt_timeout.value.has_value()) retry.failures.value = {"timeout"};
  retry.backoff.value = kBackoff;
  retry.backoff.notes.emplace_back("Linkerd's own; its jitter grows with the delay.");
  if (retry.max_attempts.value == 1) DropRetries(retry);
}

void ReadTimeouts(Section& annotations, Field<absl::Duration>& timeout) {
  SetPositive(annotations, kRequest, timeout);
  for (const char* key : {kResponse, kIdle}) {
    const std::optional<absl::Duration> other = annotations.Duration(key);
    if (!other.has_value()) continue;
    timeout.notes.push_back(absl::StrCat(
        key, ": ", absl::FormatDuration(*other), " has no equivalent: Levee bounds the whole call ",
        "(timeout) and each attempt that may be retried (attempt_timeout)."));
  }
}

// Linkerd's balancer leaves an endpoint out after so many failures in a row.
Field<EjectionDraft> ReadFailureAccrual(Section& annotations) {
  Field<EjectionDraft> field;
  const std::optional<std::string> mode = annotations.Text(kAccrual);
  if (!mode.has_value()) return field;
  if (*mode != "consecutive") {
    field.notes.push_back(absl::StrCat(kAccrual, ": ", Quoted(*mode), " has no equivalent."));
    return field;
  }
  const int64_t failures = annotations.Whole(kMaxFailures).value_or(kDefaultMaxFailures);
  if (failures < 1 || failures > kMostInARow) {
    annotations.Refuse(kMaxFailures, "must be from 1 to 1000000");
  }
  const absl::Duration min = annotations.Duration(kMinPenalty).value_or(absl::Seconds(1));
  const absl::Duration max = annotations.Duration(kMaxPenalty).value_or(absl::Minutes(1));
  if (min > max) annotations.Refuse(kMinPenalty, "must not be longer than the longest penalty");
  field.value =
      EjectionDraft{.failures = static_cast<int>(std::clamp<int64_t>(failures, 1, kMostInARow)),
                    .base = std::clamp(min, absl::Milliseconds(100), absl::Hours(1))};
  field.value->max = std::clamp(max, field.value->base, absl::Hours(24));
  field.notes.emplace_back(
      "Linkerd's failure accrual: here an endpoint is ejected only while others succeed.");
  const std::optional<double> jitter = annotations.Number(kJitterRatio);
  if (jitter.has_value()) {
    field.notes.push_back(absl::StrCat(kJitterRatio, ": ", *jitter, " has no equivalent."));
  }
  return field;
}

}  // namespace

LinkerdRules ReadLinkerdAnnotations(Section& annotations) {
  LinkerdRules read;
  for (const char* key : {kHttp, kGrpc, kLimit, kRetryTimeout}) {
    read.retries = read.retries || annotations.Has(key);
  }
  for (const char* key : {kRequest, kResponse, kIdle}) {
    read.timeouts = read.timeouts || annotations.Has(key);
  }
  if (read.retries) ReadRetries(annotations, read.rules.retry);
  if (read.timeouts) ReadTimeouts(annotations, read.rules.timeout);
  read.ejection = ReadFailureAccrual(annotations);
  std::vector<std::string> others;
  for (const std::string& key : annotations.Left()) {
    if (absl::StrContains(key, "linkerd.io/")) others.push_back(key);
  }
  if (!others.empty()) {
    read.rules.retry.notes.push_back(
        absl::StrCat("Annotations not read: ", absl::StrJoin(others, ", "), "."));
  }
  return read;
}

void ApplyLinkerd(const LinkerdRules& route, const LinkerdRules& service, PolicyRules& rules) {
  const LinkerdRules& retries = route.retries ? route : service;
  const LinkerdRules& timeouts = route.timeouts ? route : service;
  const Field<absl::Duration> attempt = rules.retry.attempt_timeout;
  if (retries.retries) {
    rules.retry = retries.rules.retry;
    if (!rules.retry.attempt_timeout.value.has_value()) rules.retry.attempt_timeout = attempt;
  }
  if (timeouts.timeouts) rules.timeout = timeouts.rules.timeout;
}

}  // namespace levee::importer
