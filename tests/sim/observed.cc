// SPDX-License-Identifier: Apache-2.0
#include "sim/observed.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "sim/twin_case.h"

namespace levee {
namespace {

// The sidecar sends a time limit in a unit of eight digits, rounded down.
std::string TextOf(absl::Duration span) {
  if (span == absl::InfiniteDuration()) return "none";
  return absl::StrCat(absl::ToInt64Milliseconds(span), "ms");
}

std::string TextOf(std::optional<OverloadScope> scope) {
  return scope.has_value() ? absl::StrCat("scope ", static_cast<int>(*scope)) : "none";
}

std::string TextOf(const AttemptRecord& attempt, Instant start) {
  std::string text =
      absl::StrCat("  record ", TextOf(attempt.start - start), "..", TextOf(attempt.end - start),
                   " ", Abseil(StatusCodeName(attempt.code)), " transparent ", attempt.transparent,
                   " backed off ", attempt.backed_off, " mark ", TextOf(attempt.mark_received));
  if (attempt.trigger.has_value()) {
    absl::StrAppend(&text, " after ", Abseil(RetryTriggerName(*attempt.trigger)), " ",
                    Abseil(StatusCodeName(attempt.after)), " delay ", TextOf(attempt.delay));
  }
  return text + "\n";
}

// Which endpoint failed last is left to chance where there are several.
std::string ValueOf(const Metadata::Field& field) {
  std::string value(field.value);
  std::string bytes;
  if (field.name.ends_with("-bin") && absl::Base64Unescape(Abseil(field.value), &bytes)) {
    value = bytes;
  }
  for (int i = 0; i < kMostEndpoints; ++i) {
    value = absl::StrReplaceAll(value, {{NameOfEndpoint(i), "ENDPOINT"}});
  }
  return value;
}

}  // namespace

std::string Text(const SeenAttempt& attempt) {
  return absl::StrCat("  attempt at ", TextOf(attempt.at), " previous ", attempt.previous_attempts,
                      " timeout ", TextOf(attempt.timeout), " received \"", attempt.received, "\"",
                      attempt.half_closed ? " ended" : "",
                      attempt.cancelled_at ? " cancelled " + TextOf(*attempt.cancelled_at) : "",
                      "\n");
}

std::string TextOfAnswer(bool head, const std::string& body, const Metadata& fields,
                         absl::Duration at) {
  std::string text =
      absl::StrCat("  answer at ", TextOf(at), head ? " with head" : "", " body \"", body, "\"");
  for (size_t i = 0; i < fields.size(); ++i) {
    absl::StrAppend(&text, " ", Abseil(fields[i].name), "=", ValueOf(fields[i]));
  }
  return text + "\n";
}

std::string Text(const CallRecord& record) {
  std::string text;
  for (const AttemptRecord& attempt : record.attempts) text += TextOf(attempt, record.start);
  absl::StrAppend(&text, "  record ends ", TextOf(record.end - record.start), " ",
                  Abseil(StatusCodeName(record.code)), " refused ",
                  record.refused ? Abseil(RefusalReasonName(*record.refused)) : "none",
                  " mark sent ", TextOf(record.mark_sent), " app retry ",
                  record.app_retry.has_value(), "/", record.app_retry_refused, " memory full ",
                  record.replay_memory_full);
  for (const WaitRecord& wait : record.waits) {
    absl::StrAppend(&text, " waited after ", wait.after, " for ", TextOf(wait.waited), " ",
                    Abseil(WaitEndName(wait.end)));
  }
  absl::StrAppend(&text, " rate ", record.rate_limit.checked, "/", record.rate_limit.refused_by,
                  "/", record.rate_limit.delayed_by, "\n");
  return text;
}

}  // namespace levee
