// Why an attempt was made, or was not made: the labels of metrics, access log and messages.
#pragma once

#include <string_view>

namespace levee {

// The event that made a retry necessary. Label `trigger` of levee_retries_total.
enum class RetryTrigger { kStatus, kHttp, kRefused, kConnect, kReset, kTimeout, kHedge };
inline constexpr int kRetryTriggers = 7;
std::string_view RetryTriggerName(RetryTrigger trigger);  // "status", ...

// Why a retry that was wanted was not made. Label `reason` of levee_retries_refused_total.
enum class RefusalReason {
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
  kObserve
};
inline constexpr int kRefusalReasons = 12;
std::string_view RefusalReasonName(RefusalReason reason);  // "budget", "max_attempts", ...

// The reason as part of a sentence: "budget used up", "no attempts left", ...
std::string_view RefusalReasonPhrase(RefusalReason reason);

}  // namespace levee
