// SPDX-License-Identifier: Apache-2.0
// One policy of the configuration, as plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/adaptive_throttle.h"
#include "policy/backoff.h"
#include "policy/dedupe_policy.h"
#include "policy/guard_policy.h"
#include "policy/rate_limit_policy.h"
#include "policy/retry_budget.h"
#include "wire/http_status_set.h"
#include "wire/overload_mark.h"
#include "wire/status.h"

namespace levee {

// `retry.failures`: which of the failures that Levee itself saw are retried.
struct RetryableFailures {
  bool refused = true;   // surely not processed by the upstream
  bool connect = true;   // nothing was sent
  bool reset = false;    // lost after the request left: may have been processed
  bool timeout = false;  // attempt_timeout: may have been processed
};

enum class CommitMode { kAuto, kHeaders };
enum class ExhaustedMode { kAuto, kReplace, kMark, kKeep };
enum class AppRetries { kLimit, kCount, kIgnore };  // the strictest first
enum class RetryMode { kEnforce, kObserve };
enum class IdempotencyMode { kAuto, kAlways, kNever };

// `retry.rules`: outcomes that are retried in a way of their own. The first rule that matches an
// outcome makes it retryable, and its max_attempts and backoff stand in place of the policy's for
// the next retry.
struct RetryRule {
  StatusCodeSet codes;
  HttpStatusSet http;
  RetryableFailures failures = {false, false, false, false};
  int max_attempts = 3;
  BackoffPolicy backoff;
};

// Defaults are those of the configuration's schema. Durations that are off are
// absl::InfiniteDuration().
struct RetryPolicy {
  int max_attempts = 3;  // at least 1; the first attempt included
  StatusCodeSet codes = {StatusCode::kUnavailable};
  RetryableFailures failures;
  HttpStatusSet http;  // of answers that are not gRPC
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  BackoffPolicy backoff;
  RetryBudgetPolicy budget;
  size_t buffer_bytes = 64 * 1024;
  CommitMode commit = CommitMode::kAuto;
  absl::Duration hold = absl::Milliseconds(20);
  ExhaustedMode exhausted = ExhaustedMode::kAuto;
  AppRetries app_retries = AppRetries::kLimit;        // that say so
  AppRetries app_retries_loops = AppRetries::kLimit;  // that are recognised; app_retries bounds it
  bool min_remaining = true;  // no attempt with less time left than the median attempt takes
  RetryMode mode = RetryMode::kEnforce;
  std::vector<RetryRule> rules;
};

// Whether a failed attempt can be followed by another one at all.
inline bool MayRetry(const RetryPolicy& policy) {
  if (policy.max_attempts > 1) return true;
  return std::any_of(policy.rules.begin(), policy.rules.end(),
                     [](const RetryRule& rule) { return rule.max_attempts > 1; });
}

// `hedge`: further attempts of a call while the first is still under way (gRFC A6).
struct HedgePolicy {
  // How long to wait before the next attempt is started beside those that have not answered.
  absl::Duration delay = absl::ZeroDuration();  // used if `quantile` is 0
  double quantile = 0;   // above 0, below 1: that quantile of what recent attempts took
  int max_attempts = 2;  // at least 2; the first attempt included
  // Failures that leave the call to its other attempts; any other failure ends it.
  StatusCodeSet non_fatal = {StatusCode::kUnavailable};
};

// `stream`: the bounds of calls that are streams, which have no other. Both are off by default.
struct StreamPolicy {
  absl::Duration timeout = absl::InfiniteDuration();  // of its life
  absl::Duration idle = absl::InfiniteDuration();     // without a message in either direction
};

struct CallPolicy {
  std::string name = "default";
  absl::Duration timeout = absl::InfiniteDuration();  // upper bound of a unary call's deadline
  StreamPolicy stream;
  RetryPolicy retry;
  std::optional<HedgePolicy> hedge;  // then retry.max_attempts is 1
  IdempotencyMode idempotency = IdempotencyMode::kAuto;
  std::string key_header;  // of the idempotency key, lower case; empty: none is added
  std::vector<RateLimitPolicy> rate_limits;
  std::optional<ThrottlePolicy> throttle = ThrottlePolicy();  // nullopt: every call is sent
  std::optional<GuardPolicy> guard;                           // nullopt: nothing guards the service
  std::optional<DedupePolicy> dedupe;  // nullopt: calls with equal idempotency keys are not joined
};

// `overload`: the agreed code and which signals are honoured.
struct OverloadPolicy {
  StatusCode status = StatusCode::kResourceExhausted;
  HonoredSignals honor;
};

}  // namespace levee
