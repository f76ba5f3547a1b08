// SPDX-License-Identifier: Apache-2.0
#include "import/grpc_policy.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "config/values.h"
#include "import/attempts.h"

namespace levee::importer {
namespace {

// The most attempts that gRPC makes, whatever a service config asks for (gRFC A6, "Limits on
// Retries and Hedges").
constexpr int kMostGrpcAttempts = 5;

// gRFC A6, "Exponential Backoff": each delay is multiplied by a random number from 0.8 to 1.2.
constexpr double kJitterFactor = 0.2;

constexpr double kMostMultiplier = 1000;  // the most that a policy takes

int ReadMaxAttempts(Section& policy, Notes& notes) {
  const int64_t attempts = policy.Whole("maxAttempts").value_or(0);
  if (attempts < 2) policy.Refuse("maxAttempts", "must be given and at least 2");
  if (attempts > kMostGrpcAttempts) {
    notes.push_back(absl::StrCat("maxAttempts is ", attempts, ", which gRPC treats as ",
                                 kMostGrpcAttempts, "."));
  }
  return static_cast<int>(std::min<int64_t>(attempts, kMostGrpcAttempts));
}

// The configs of generated clients name no number, since the client tries until the timeout. gRPC
// itself refuses that, also in a config for Go, whose keys may begin with a capital.
bool IsOfGeneratedClient(const Section& policy) {
  return !policy.Has("maxAttempts") && policy.Written("initialBackoff") == "initialBackoff";
}

int UntilTheTimeout(Notes& notes) {
  notes.push_back(
      absl::StrCat("There is no maxAttempts: a generated client tries until the call's timeout. "
                   "Levee makes at most ",
                   kMostAttempts, " attempts, and no more than its budget allows."));
  return kMostAttempts;
}

std::vector<std::string> ReadCodes(Section& policy, const char* key, bool required) {
  std::vector<std::string> names;
  const std::vector<Item> items = policy.List(key);
  if (items.empty() && required) policy.Refuse(key, "must be given and name at least one code");
  for (const Item& item : items) {
    const std::optional<std::string> text = policy.source().AsText(item);
    if (!text.has_value()) continue;
    const absl::StatusOr<StatusCode> code = ParseFailureCode(*text);
    if (!code.ok()) {
      policy.source().Refuse(item.place, std::string(code.status().message()));
      continue;
    }
    std::string name(StatusCodeName(*code));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

absl::Duration ReadPositive(Section& policy, const char* key, Notes& notes) {
  const absl::Duration duration = policy.Duration(key).value_or(absl::ZeroDuration());
  if (duration <= absl::ZeroDuration()) policy.Refuse(key, "must be given and above 0s");
  return Bounded(duration, notes);
}

void ReadGrpcBackoff(Section& policy, Field<BackoffDraft>& field) {
  BackoffDraft backoff;
  backoff.initial = ReadPositive(policy, "initialBackoff", field.notes);
  backoff.max = ReadPositive(policy, "maxBackoff", field.notes);
  backoff.multiplier = policy.Number("backoffMultiplier").value_or(0);
  if (IsOfGeneratedClient(policy)) {
    field.notes.emplace_back("Generated clients wait for any time up to the delay.");
  } else {
    backoff.factor = kJitterFactor;
  }
  if (backoff.multiplier <= 0) policy.Refuse("backoffMultiplier", "must be given and above 0");
  if (backoff.multiplier < 1 || backoff.multiplier > kMostMultiplier) {
    field.notes.push_back(absl::StrCat("backoffMultiplier is ", backoff.multiplier,
                                       "; Levee takes 1 to ", kMostMultiplier, "."));
    backoff.multiplier = std::clamp(backoff.multiplier, 1.0, kMostMultiplier);
  }
  if (backoff.initial > backoff.max) {
    field.notes.push_back(absl::StrCat("initialBackoff is ", absl::FormatDuration(backoff.initial),
                                       ", which maxBackoff bounds."));
    backoff.initial = backoff.max;
  }
  field.value = backoff;
}

// Failures that gRPC itself detects have a status as well: a refused or lost connection is
// UNAVAILABLE.
void ReadFailures(RetryDraft& retry) {
  const std::vector<std::string>& codes = *retry.codes.value;
  retry.failures.value.emplace();
  if (std::find(codes.begin(), codes.end(), "UNAVAILABLE") != codes.end()) {
    retry.failures.value = {"refused", "connect", "reset"};
    retry.failures.notes.push_back(
        "To gRPC a lost connection is UNAVAILABLE too, hence reset: a call that had reached the "
        "server may run twice.");
  }
  if (!retry.attempt_timeout.value.has_value()) return;
  retry.failures.value->emplace_back("timeout");
  retry.failures.notes.push_back(
      "gRPC retries after perAttemptRecvTimeout, hence timeout: a call that the server is slow "
      "with "
      "may run twice.");
}

void ReadRetryPolicy(Section policy, RetryDraft& retry) {
  Field<int>& attempts = retry.max_attempts;
  attempts.value = IsOfGeneratedClient(policy) ? UntilTheTimeout(attempts.notes)
                                               : ReadMaxAttempts(policy, attempts.notes);
  const std::optional<absl::Duration> attempt = policy.Duration("perAttemptRecvTimeout");
  if (attempt == absl::ZeroDuration()) policy.Refuse("perAttemptRecvTimeout", "must be above 0s");
  if (attempt.has_value()) SetDuration(*attempt, retry.attempt_timeout);
  retry.codes.value = ReadCodes(policy, "retryableStatusCodes", !attempt.has_value());
  ReadFailures(retry);
  ReadGrpcBackoff(policy, retry.backoff);
  retry.commit.value = "headers";
  AddNote(policy.Unread(), retry.notes);
}

void ReadHedgingPolicy(Section policy, PolicyRules& rules) {
  HedgeDraft hedge;
  hedge.max_attempts = ReadMaxAttempts(policy, rules.hedge.notes);
  hedge.delay =
      Bounded(policy.Duration("hedgingDelay").value_or(absl::ZeroDuration()), rules.hedge.notes);
  hedge.non_fatal = ReadCodes(policy, "nonFatalStatusCodes", false);
  AddNote(policy.Unread(), rules.hedge.notes);
  rules.hedge.value = std::move(hedge);
  rules.idempotency.value = "always";
  rules.idempotency.notes.push_back(
      "A hedgingPolicy says that the methods may run more than once; Levee wants to be told.");
}

void ReadTimeout(Section& method, Field<absl::Duration>& timeout) {
  const std::optional<absl::Duration> duration = method.Duration("timeout");
  if (duration == absl::ZeroDuration()) {
    timeout.notes.push_back("timeout: 0s has no equivalent: it would fail every call at once.");
  } else if (duration.has_value()) {
    SetDuration(*duration, timeout);
  }
  for (const char* key : {"maxRequestMessageBytes", "maxResponseMessageBytes"}) {
    const std::optional<int64_t> bytes = method.Whole(key);
    if (!bytes.has_value()) continue;
    timeout.notes.push_back(absl::StrCat(
        key, ": ", *bytes, " has no equivalent: Levee passes on messages of any size."));
  }
}

}  // namespace

PolicyRules ReadMethodPolicy(Section& method) {
  PolicyRules rules;
  ReadTimeout(method, rules.timeout);
  rules.retry.max_attempts.value = 1;
  std::optional<Section> retry = method.Map("retryPolicy");
  std::optional<Section> hedging = method.Map("hedgingPolicy");
  if (retry.has_value() && hedging.has_value()) {
    method.Refuse("hedgingPolicy", "excludes retryPolicy, which is given too");
  }
  if (retry.has_value()) ReadRetryPolicy(*std::move(retry), rules.retry);
  if (hedging.has_value()) ReadHedgingPolicy(*std::move(hedging), rules);
  return rules;
}

}  // namespace levee::importer
