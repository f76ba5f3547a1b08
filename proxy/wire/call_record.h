// SPDX-License-Identifier: Apache-2.0
// The record of one call: written once, at its end, for metrics and the access log.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "wire/call_kind.h"
#include "wire/overload_mark.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

struct AttemptRecord {
  Instant start;
  Instant end;
  int64_t endpoint = -1;  // -1: it reached none
  StatusCode code = StatusCode::kUnknown;
  bool transparent = false;             // outside max_attempts
  bool backed_off = false;              // `delay` was chosen by backoff or advice
  std::optional<RetryTrigger> trigger;  // what made it necessary; none for the first
  StatusCode after = StatusCode::kOk;   // with trigger: the code of the failure it follows
  std::optional<OverloadScope> mark_received;
  absl::Duration delay;  // with trigger: the delay chosen
};

// The decision of the rate limits of the call's policy. A limit is named by its index in the
// policy.
struct RateLimitRecord {
  bool checked = false;        // false: the call ended before its rate limits were checked
  int refused_by = -1;         // -1: no limit
  int delayed_by = -1;         // the limit that made it wait longest, -1: no limit
  bool shared_bucket = false;  // a limit had no bucket of the call's own (max_keys)
};

// A wait of a call's retry for a success to pay for it.
struct WaitRecord {
  int after = 0;  // the attempts that the call had made, transparent ones included
  WaitEnd end = WaitEnd::kReleased;
  absl::Duration waited;  // since the retry came to wait
};

// The decision of the guard in front of the service.
struct GuardRecord {
  std::optional<GuardDecision> decision;           // none: the call never came to a guard
  GuardReason reason = GuardReason::kConcurrency;  // with kRefused
  int priority = 0;                                // 0 to 127
  absl::Duration waited = absl::ZeroDuration();    // for a slot, or for its refusal
};

// A bound of streams that has ended one.
enum class StreamBound : uint8_t { kTimeout, kIdle };

// The label `by` of levee_streams_ended_total, and the field of the access log.
constexpr std::string_view StreamBoundName(StreamBound bound) {
  switch (bound) {
    case StreamBound::kTimeout:
      return "timeout";
    case StreamBound::kIdle:
      return "idle";
  }
  return "";
}
inline constexpr int kStreamBounds = CountValues(StreamBoundName);

// Every call holds one, so the fields are in the order that takes the fewest bytes.
struct CallRecord {
  Instant start;
  Instant end;
  absl::InlinedVector<AttemptRecord, 1> attempts;
  absl::InlinedVector<WaitRecord, 1> waits;
  RateLimitRecord rate_limit;
  GuardRecord guard;
  StatusCode code = StatusCode::kUnknown;  // as the caller saw it
  CallKind kind = CallKind::kUnary;        // as far as it was known at the end
  std::optional<StreamBound> ended_by;     // none: no bound of streams
  std::optional<RefusalReason> refused;    // why retrying stopped
  std::optional<OverloadScope> mark_sent;
  std::optional<AppRetrySign> app_retry;     // arrived as the application's own retry
  std::optional<ThrottleDecision> throttle;  // none: it was not asked
  std::optional<DedupeResult> dedupe;        // none: it has no key, or did not come to the store
  std::optional<ShadowOutcome> shadow;       // none: no shadow policy, or no attempt
  bool app_retry_refused = false;
  bool replay_memory_full = false;  // limits.replay_bytes was reached
  bool failed_calls_full = false;   // the limit failed_calls was reached
  bool waiting_full = false;        // limits.waiting_calls was reached
  bool lone_calls_full = false;     // the limit lone_calls was reached
};

// Whether the call has shown that its upstream has the method. A caller can make paths up, and must
// not use up what is kept for each method. `head_sent`: the caller got a head, and not trailers
// only.
inline bool ShowsMethod(const CallRecord& record, bool head_sent) {
  // An upstream that has no such method says so within this time, as a rule. A call that its caller
  // ended before has shown nothing.
  constexpr absl::Duration kDeniedWithin = absl::Milliseconds(100);
  if (record.attempts.empty() || record.attempts.back().endpoint < 0) return false;
  if (record.code == StatusCode::kUnimplemented) return false;
  if (head_sent) return true;
  if (record.code == StatusCode::kCancelled) return false;
  return record.code != StatusCode::kDeadlineExceeded ||
         record.end - record.attempts.back().start >= kDeniedWithin;
}

}  // namespace levee
