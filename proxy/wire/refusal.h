// SPDX-License-Identifier: Apache-2.0
// Why an attempt was made, or was not made: the labels of metrics, access log and messages.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/enum_values.h"

namespace levee {

// The event that made a retry necessary.
enum class RetryTrigger : uint8_t { kStatus, kHttp, kRefused, kConnect, kReset, kTimeout, kHedge };

// The label `trigger` of levee_retries_total.
constexpr std::string_view RetryTriggerName(RetryTrigger trigger) {
  switch (trigger) {
    case RetryTrigger::kStatus:
      return "status";
    case RetryTrigger::kHttp:
      return "http";
    case RetryTrigger::kRefused:
      return "refused";
    case RetryTrigger::kConnect:
      return "connect";
    case RetryTrigger::kReset:
      return "reset";
    case RetryTrigger::kTimeout:
      return "timeout";
    case RetryTrigger::kHedge:
      return "hedge";
  }
  return "";
}
inline constexpr int kRetryTriggers = CountValues(RetryTriggerName);

// Why a retry that was wanted was not made.
enum class RefusalReason : uint8_t {
  kBudget,
  kMaxAttempts,
  kDeadline,
  kCommitted,
  kBuffer,
  kPushback,
  kOverloadMark,
  kNotIdempotent,
  kMaxElapsed,
  kAdvice,
  kDraining,
  kObserve,
  kThrottle
};

// Whether a retry was wanted that only the load, its cost or the time forbade, so that it counts as
// pressure on the service. Of calls that may not be repeated, or have no attempts left, none was.
constexpr bool WasWanted(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kBudget:
    case RefusalReason::kDeadline:
    case RefusalReason::kPushback:
    case RefusalReason::kOverloadMark:
    case RefusalReason::kMaxElapsed:
    case RefusalReason::kAdvice:
      return true;
    case RefusalReason::kMaxAttempts:
    case RefusalReason::kCommitted:
    case RefusalReason::kBuffer:
    case RefusalReason::kNotIdempotent:
    case RefusalReason::kDraining:
    case RefusalReason::kObserve:
    case RefusalReason::kThrottle:
      return false;
  }
  return false;
}

struct RefusalText {
  std::string_view name;    // the label `reason` of levee_retries_refused_total
  std::string_view phrase;  // for a sentence, before "after 2 attempts"
};

constexpr RefusalText RefusalTextOf(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kBudget:
      return {"budget", "budget used up"};
    case RefusalReason::kMaxAttempts:
      return {"max_attempts", "no attempts left"};
    case RefusalReason::kDeadline:
      return {"deadline", "deadline too near"};
    case RefusalReason::kCommitted:
      return {"committed", "answer already begun"};
    case RefusalReason::kBuffer:
      return {"buffer", "request too large to replay"};
    case RefusalReason::kPushback:
      return {"pushback", "server asked for no retry"};
    case RefusalReason::kOverloadMark:
      return {"overload_mark", "overload signal received"};
    case RefusalReason::kNotIdempotent:
      return {"not_idempotent", "method not idempotent"};
    case RefusalReason::kMaxElapsed:
      return {"max_elapsed", "time for retries used up"};
    case RefusalReason::kAdvice:
      return {"advice", "server asked for too long a wait"};
    case RefusalReason::kDraining:
      return {"draining", "sidecar shutting down"};
    case RefusalReason::kObserve:
      return {"observe", "policy only observes"};
    case RefusalReason::kThrottle:
      return {"throttle", "upstream overloaded"};
  }
  return {};
}

// The two columns of the table above: "budget" and "budget used up", ...
constexpr std::string_view RefusalReasonName(RefusalReason reason) {
  return RefusalTextOf(reason).name;
}
constexpr std::string_view RefusalReasonPhrase(RefusalReason reason) {
  return RefusalTextOf(reason).phrase;
}
inline constexpr int kRefusalReasons = CountValues(RefusalReasonName);

// How a retry's wait for a success ended: a success let it go, it took as long as a retry may wait,
// the call's deadline came too near, or the call ended for another reason.
enum class WaitEnd : uint8_t { kReleased, kExpired, kDeadline, kCancelled };

// The label `result` of levee_retries_waited_total, and `end` of the access log.
constexpr std::string_view WaitEndName(WaitEnd end) {
  switch (end) {
    case WaitEnd::kReleased:
      return "released";
    case WaitEnd::kExpired:
      return "expired";
    case WaitEnd::kDeadline:
      return "deadline";
    case WaitEnd::kCancelled:
      return "cancelled";
  }
  return "";
}
inline constexpr int kWaitEnds = CountValues(WaitEndName);

// The sign by which a call is taken for the application's own retry: it says so
// (grpc-previous-rpc-attempts), or an equal call failed a moment ago.
enum class AppRetrySign : uint8_t { kHeader, kLoop };

// The label `seen_by` of levee_app_retries_total.
constexpr std::string_view AppRetrySignName(AppRetrySign sign) {
  switch (sign) {
    case AppRetrySign::kHeader:
      return "header";
    case AppRetrySign::kLoop:
      return "loop";
  }
  return "";
}
inline constexpr int kAppRetrySigns = CountValues(AppRetrySignName);

// The decision of a guard on a call: it got a slot at once, it waited for one, it was refused.
enum class GuardDecision : uint8_t { kAdmitted, kQueued, kRefused };

// The label `decision` of levee_guard_calls_total.
constexpr std::string_view GuardDecisionName(GuardDecision decision) {
  switch (decision) {
    case GuardDecision::kAdmitted:
      return "admitted";
    case GuardDecision::kQueued:
      return "queued";
    case GuardDecision::kRefused:
      return "refused";
  }
  return "";
}
inline constexpr int kGuardDecisions = CountValues(GuardDecisionName);

// The fate of a call by its idempotency key: it was the first with the key and ran, it got the
// answer of the first, at once or after it had waited for that, it was refused because of the first
// or because it has no key, it was another request than the first, it was refused because the first
// was lost, or its key could not be stored.
enum class DedupeResult : uint8_t {
  kFirst,
  kReplayed,
  kWaited,
  kRefused,
  kMismatch,
  kLost,
  kStoreFailed,
};

// The label `result` of levee_dedupe_calls_total.
constexpr std::string_view DedupeResultName(DedupeResult result) {
  switch (result) {
    case DedupeResult::kFirst:
      return "first";
    case DedupeResult::kReplayed:
      return "replayed";
    case DedupeResult::kWaited:
      return "waited";
    case DedupeResult::kRefused:
      return "refused";
    case DedupeResult::kMismatch:
      return "mismatch";
    case DedupeResult::kLost:
      return "lost";
    case DedupeResult::kStoreFailed:
      return "store_failed";
  }
  return "";
}
inline constexpr int kDedupeResults = CountValues(DedupeResultName);

// Why a guard refuses a call: no slot is free and no further call may wait for one, or it has
// waited for as long as it may.
enum class GuardReason : uint8_t { kConcurrency, kQueue };

// The `reason` of the mark, and the label `reason` of levee_guard_calls_total.
constexpr std::string_view GuardReasonName(GuardReason reason) {
  switch (reason) {
    case GuardReason::kConcurrency:
      return "concurrency";
    case GuardReason::kQueue:
      return "queue";
  }
  return "";
}
inline constexpr int kGuardReasons = CountValues(GuardReasonName);

// The decision of a policy's adaptive throttle on a call: it is sent, it is not sent, or it is sent
// because the throttle only observes.
enum class ThrottleDecision : uint8_t { kAdmitted, kRejected, kObserved };

// The label `decision` of levee_throttle_decisions_total.
constexpr std::string_view ThrottleDecisionName(ThrottleDecision decision) {
  switch (decision) {
    case ThrottleDecision::kAdmitted:
      return "admitted";
    case ThrottleDecision::kRejected:
      return "rejected";
    case ThrottleDecision::kObserved:
      return "observed";
  }
  return "";
}
inline constexpr int kThrottleDecisions = CountValues(ThrottleDecisionName);

// How many attempts a route's shadow policy would have made for a call, beside those that were
// made.
enum class ShadowOutcome : uint8_t { kSame, kMore, kFewer };

// The label `outcome` of levee_shadow_decisions_total, and `shadow` of the access log.
constexpr std::string_view ShadowOutcomeName(ShadowOutcome outcome) {
  switch (outcome) {
    case ShadowOutcome::kSame:
      return "same";
    case ShadowOutcome::kMore:
      return "more";
    case ShadowOutcome::kFewer:
      return "fewer";
  }
  return "";
}
inline constexpr int kShadowOutcomes = CountValues(ShadowOutcomeName);

}  // namespace levee
