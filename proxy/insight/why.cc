// SPDX-License-Identifier: Apache-2.0
// Makes the sentence that says what was done for a call, and why no more was done.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "insight/recent_calls.h"

namespace levee {
namespace {

std::string Times(size_t count) {
  if (count == 1) return "once";
  if (count == 2) return "twice";
  return absl::StrCat(count, " times");
}

std::string Ordinal(size_t number) {
  constexpr std::array<absl::string_view, 5> kNames = {"first", "second", "third", "fourth",
                                                       "fifth"};
  if (number <= kNames.size()) return absl::StrCat("the ", kNames[number - 1], " attempt");
  return absl::StrCat("attempt ", number);
}

absl::string_view Name(StatusCode code) {
  const std::string_view name = StatusCodeName(code);
  return {name.data(), name.size()};
}

// Returns the failure that made a retry necessary, in words that can follow "after".
std::string Cause(const AttemptRecord& attempt) {
  switch (*attempt.trigger) {
    case RetryTrigger::kHttp:
      return absl::StrCat("an HTTP error (", Name(attempt.after), ")");
    case RetryTrigger::kRefused:
      return "a refused stream";
    case RetryTrigger::kConnect:
      return "no connection";
    case RetryTrigger::kReset:
      return "a reset";
    case RetryTrigger::kTimeout:
      return "the attempt's timeout";
    default:
      return std::string(Name(attempt.after));
  }
}

// The attempts of a call after its first one, by their kind.
struct Further {
  size_t retries = 0;
  size_t hedges = 0;
  size_t transparent = 0;
  std::vector<std::string> causes;  // of the retries, each once
};

Further FurtherAttempts(const CallRecord& record) {
  Further further;
  for (const AttemptRecord& attempt : record.attempts) {
    if (!attempt.trigger.has_value()) continue;
    if (attempt.transparent) {
      ++further.transparent;
    } else if (*attempt.trigger == RetryTrigger::kHedge) {
      ++further.hedges;
    } else {
      ++further.retries;
      const std::string cause = Cause(attempt);
      if (std::find(further.causes.begin(), further.causes.end(), cause) == further.causes.end()) {
        further.causes.push_back(cause);
      }
    }
  }
  return further;
}

// Says which further attempts Levee made; empty if there were none.
std::string WhatWasDone(const Further& further) {
  std::vector<std::string> done;
  if (further.transparent > 0) {
    done.push_back(absl::StrCat("sent again ", Times(further.transparent),
                                ", as the server had not processed it"));
  }
  if (further.retries > 0) {
    done.push_back(absl::StrCat("retried ", Times(further.retries), " after ",
                                absl::StrJoin(further.causes, " and ")));
  }
  if (further.hedges > 0) done.push_back(absl::StrCat("hedged ", Times(further.hedges)));
  return absl::StrJoin(done, ", ");
}

std::string Rounded(absl::Duration span) {
  return absl::FormatDuration(absl::Trunc(span, absl::Microseconds(100)));
}

// Appends how long retries waited for a success that then let them go, and how long one did that
// the call's end cut short.
void AddWaits(const CallRecord& record, std::vector<std::string>& parts) {
  for (const WaitRecord& wait : record.waits) {
    if (wait.end == WaitEnd::kReleased) {
      parts.push_back(absl::StrCat("waited ", Rounded(wait.waited), " for a success"));
    } else if (wait.end == WaitEnd::kCancelled) {
      parts.push_back(absl::StrCat("waited ", Rounded(wait.waited), " for a success in vain"));
    }
  }
}

// Says how a call that had attempts ended.
std::string Outcome(const CallRecord& record) {
  const size_t attempts = record.attempts.size();
  if (record.code == StatusCode::kCancelled) return "then cancelled";
  if (record.code != StatusCode::kOk) {
    const AttemptRecord& last = record.attempts.back();
    if (last.code == StatusCode::kOk || last.code == StatusCode::kCancelled) {
      return absl::StrCat("failed with ", Name(record.code));
    }
    return absl::StrCat(attempts > 1 ? "the last attempt failed with " : "failed with ",
                        Name(last.code));
  }
  for (size_t i = 0; i < attempts; ++i) {
    if (record.attempts[i].code == StatusCode::kOk && attempts > 1) {
      return absl::StrCat(Ordinal(i + 1), " was OK");
    }
  }
  return "OK";
}

std::string RefusalText(const CallRecord& record) {
  if (*record.refused == RefusalReason::kBuffer && record.replay_memory_full) {
    return "no memory left to keep the request";
  }
  if (*record.refused == RefusalReason::kBudget && !record.waits.empty()) {
    const WaitRecord& last = record.waits.back();
    if (last.end == WaitEnd::kExpired || last.end == WaitEnd::kDeadline) {
      return absl::StrCat("no success paid for it while it waited ", Rounded(last.waited),
                          last.end == WaitEnd::kDeadline ? ", until the deadline was near" : "");
    }
  }
  const std::string_view phrase = RefusalReasonPhrase(*record.refused);
  return std::string(phrase);
}

// Appends why no further attempt was made: "not retried: budget used up".
void AddRefusal(const CallRecord& record, const Further& further, std::vector<std::string>& parts) {
  if (!record.refused.has_value()) return;
  const char* refused = "not retried";
  if (further.retries + further.hedges > 0) refused = "not retried again";
  if (record.code == StatusCode::kOk) refused = "no further attempt";
  parts.push_back(absl::StrCat(refused, ": ", RefusalText(record)));
}

// Returns whether an endpoint sent an overload mark for itself only, so that the call went on to
// another endpoint.
bool PassedOverAnEndpoint(const CallRecord& record) {
  return record.attempts.size() > 1 &&
         std::any_of(record.attempts.begin(), record.attempts.end(),
                     [](const AttemptRecord& attempt) {
                       return attempt.mark_received == OverloadScope::kEndpoint;
                     });
}

// Says that the call is the application's retry, and how that is known if the call does not say so.
std::string AppRetryText(const CallRecord& record) {
  const bool loop = record.app_retry == AppRetrySign::kLoop;
  return absl::StrCat("a retry by the application itself",
                      loop ? " (an equal call failed a moment ago)" : "");
}

std::string GuardRefusalText(const GuardRecord& guard) {
  if (guard.reason == GuardReason::kConcurrency) {
    return "refused by the guard: no slot was free, and no more may wait";
  }
  return absl::StrCat("refused by the guard: too many calls wait for a slot (it waited ",
                      Rounded(guard.waited), ", priority ", guard.priority, ")");
}

// Says what came of the call's idempotency key, if that kept it from the application.
std::string DedupeText(DedupeResult result) {
  switch (result) {
    case DedupeResult::kFirst:
      return "";
    case DedupeResult::kReplayed:
      return "got the stored answer of the first call with its idempotency key";
    case DedupeResult::kWaited:
      return "waited for the first call with its idempotency key, and got its answer";
    case DedupeResult::kRefused:
      return "refused because of its idempotency key";
    case DedupeResult::kMismatch:
      return "refused: the first call with its idempotency key was another request";
    case DedupeResult::kLost:
      return "refused: the first call with its idempotency key was lost";
    case DedupeResult::kStoreFailed:
      return "refused: the store of idempotency keys has no room";
  }
  return "";
}

// Says why a call had no attempt.
std::string WhyUnattempted(const CallRecord& record) {
  if (record.app_retry_refused) {
    return absl::StrCat("refused: ", AppRetryText(record),
                        ", and the budget for retries is used up");
  }
  if (record.rate_limit.refused_by >= 0) return "refused by a rate limit";
  if (record.guard.decision == GuardDecision::kRefused) return GuardRefusalText(record.guard);
  if (record.dedupe.has_value() && record.dedupe != DedupeResult::kFirst) {
    return DedupeText(*record.dedupe);
  }
  const std::string ended = absl::StrCat("ended with ", Name(record.code), " before an attempt");
  if (!record.refused.has_value()) return ended;
  return absl::StrCat(ended, ": ", RefusalText(record));
}

}  // namespace

std::string WhyOf(const CallRecord& record) {
  if (record.attempts.empty()) return WhyUnattempted(record);
  const Further further = FurtherAttempts(record);
  std::vector<std::string> parts;
  if (record.app_retry.has_value()) parts.push_back(AppRetryText(record));
  if (record.rate_limit.delayed_by >= 0) parts.push_back("waited for a rate limit");
  if (record.guard.decision == GuardDecision::kQueued) {
    parts.push_back("waited for a slot of the guard");
  }
  if (std::string done = WhatWasDone(further); !done.empty()) parts.push_back(std::move(done));
  AddWaits(record, parts);
  parts.push_back(Outcome(record));
  if (PassedOverAnEndpoint(record)) parts.push_back("an endpoint said it is overloaded");
  AddRefusal(record, further, parts);
  if (record.mark_sent.has_value()) parts.push_back("the caller was told not to retry");
  return absl::StrJoin(parts, "; ");
}

}  // namespace levee
