// What a policy of the configuration says about one call, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "policy/backoff.h"
#include "policy/retry_budget.h"
#include "wire/overload_mark.h"
#include "wire/status.h"

namespace levee {

// `retry.failures`: which of the failures that Levee saw itself are retried.
struct RetryableFailures {
  bool refused = true;   // surely not processed by the upstream
  bool connect = true;   // nothing was sent
  bool reset = false;    // lost after the request left: may have been processed
  bool timeout = false;  // attempt_timeout: may have been processed
};

enum class CommitMode { kAuto, kHeaders };
enum class ExhaustedMode { kAuto, kReplace, kMark, kKeep };
enum class AppRetries { kLimit, kCount, kIgnore };
enum class RetryMode { kEnforce, kObserve };
enum class IdempotencyMode { kAuto, kAlways, kNever };

// Defaults are those of policy.md. Durations that are off are absl::InfiniteDuration().
struct RetryPolicy {
  int max_attempts = 3;  // at least 1; the first attempt included
  StatusCodeSet codes = {StatusCode::kUnavailable};
  RetryableFailures failures;
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  BackoffPolicy backoff;
  RetryBudgetPolicy budget;
  size_t buffer_bytes = 64 * 1024;
  CommitMode commit = CommitMode::kAuto;
  absl::Duration hold = absl::Milliseconds(20);
  ExhaustedMode exhausted = ExhaustedMode::kAuto;
  AppRetries app_retries = AppRetries::kLimit;
};

struct CallPolicy {
  std::string name = "default";
  absl::Duration timeout = absl::InfiniteDuration();  // upper bound of the call's deadline
  RetryPolicy retry;
  IdempotencyMode idempotency = IdempotencyMode::kAuto;
};

// `overload`: the agreed code and which signals are honoured.
struct OverloadPolicy {
  StatusCode status = StatusCode::kResourceExhausted;
  HonoredSignals honor;
};

}  // namespace levee
