// SPDX-License-Identifier: Apache-2.0
#include "telemetry/record_call.h"

#include <algorithm>

#include "absl/time/time.h"

namespace levee {
namespace {

int64_t NanosBetween(Instant from, Instant to) { return to.nanos() - from.nanos(); }

// Counts all of an attempt except the time between it and the attempts around it.
void RecordAttempt(MethodSeries& method, UpstreamSeries& upstream, const AttemptRecord& attempt,
                   CallKind kind) {
  method.attempts[kind][attempt.code].Observe(NanosBetween(attempt.start, attempt.end));
  if (attempt.mark_received.has_value()) upstream.marks_received[*attempt.mark_received].Add();
  if (!attempt.trigger.has_value()) return;
  method.retries[*attempt.trigger][attempt.after].Add();
  if (attempt.transparent) upstream.transparent_retries.Add();
  if (attempt.backed_off) {
    upstream.retry_backoff.Observe(absl::ToInt64Nanoseconds(attempt.delay));
  }
}

// Returns the time between attempts during which none was active, in nanoseconds.
int64_t IdleNanos(const CallRecord& record) {
  int64_t idle = 0;
  Instant busy_until = record.attempts.front().end;
  for (const AttemptRecord& attempt : record.attempts) {
    idle += std::max<int64_t>(NanosBetween(busy_until, attempt.start), 0);
    busy_until = std::max(busy_until, attempt.end);
  }
  return idle;
}

// Counts the attempts of a call after its first one, and the time between the attempts.
void RecordFurther(MethodSeries& method, const CallRecord& record) {
  int retries = 0, transparent = 0, hedges = 0;
  for (const AttemptRecord& attempt : record.attempts) {
    if (!attempt.trigger.has_value()) continue;
    const bool hedge = *attempt.trigger == RetryTrigger::kHedge;
    ++(attempt.transparent ? transparent : hedge ? hedges : retries);
  }
  if (retries > 0) method.retries_per_call.Observe(retries);
  if (transparent > 0) method.transparent_per_call.Observe(transparent);
  if (hedges > 0) method.hedges_per_call.Observe(hedges);
  method.retry_delay.Observe(IdleNanos(record));
}

void RecordAttempts(MethodSeries& method, UpstreamSeries& upstream, const CallRecord& record) {
  int counted = 0;
  for (const AttemptRecord& attempt : record.attempts) {
    RecordAttempt(method, upstream, attempt, record.kind);
    if (!attempt.transparent) ++counted;
  }
  auto& histogram = record.code == StatusCode::kOk ? method.attempts_ok : method.attempts_error;
  histogram.Observe(counted);
  if (record.attempts.size() > 1) RecordFurther(method, record);
}

}  // namespace

void RecordCall(MethodSeries& method, UpstreamSeries& upstream, WorkerSeries& worker,
                const CallRecord& record) {
  method.calls[record.kind][record.code].Observe(NanosBetween(record.start, record.end));
  if (record.ended_by.has_value()) upstream.streams_ended[*record.ended_by].Add();
  if (!record.attempts.empty()) RecordAttempts(method, upstream, record);
  if (record.refused.has_value()) method.retries_refused[*record.refused].Add();
  if (record.mark_sent.has_value()) upstream.marks_sent[*record.mark_sent].Add();
  if (record.app_retry.has_value()) {
    (record.app_retry_refused ? upstream.app_retries_refused
                              : upstream.app_retries_admitted)[*record.app_retry]
        .Add();
  }
  if (record.throttle.has_value()) upstream.throttle[*record.throttle].Add();
  if (record.rate_limit.refused_by >= 0) upstream.rate_limited.Add();
  for (const WaitRecord& wait : record.waits) {
    upstream.waits[wait.end].Add();
    upstream.retry_wait.Observe(absl::ToInt64Nanoseconds(wait.waited));
  }
  if (record.waiting_full) worker.limit_hits[Limit::kWaitingCalls].Add();
  if (record.replay_memory_full) worker.limit_hits[Limit::kReplayBytes].Add();
  if (record.lone_calls_full) worker.limit_hits[Limit::kLoneCalls].Add();
  if (record.failed_calls_full) worker.limit_hits[Limit::kFailedCalls].Add();
  if (record.rate_limit.shared_bucket) worker.limit_hits[Limit::kMaxKeys].Add();
}

void RecordArrival(GuardSeries& guard, int previous) {
  guard.arrivals[static_cast<ArrivalClass>(std::clamp(previous, 0, kArrivalClasses - 1))].Add();
}

void RecordGuard(GuardSeries& guard, const GuardRecord& record) {
  if (!record.decision.has_value()) return;
  const auto band = static_cast<PriorityBand>(record.priority / 32);
  switch (*record.decision) {
    case GuardDecision::kAdmitted:
      guard.admitted[band].Add();
      return;
    case GuardDecision::kQueued:
      guard.queued[band].Add();
      break;
    case GuardDecision::kRefused:
      guard.refused[record.reason][band].Add();
      if (record.waited == absl::ZeroDuration()) return;
      break;
  }
  guard.waits.Observe(absl::ToInt64Nanoseconds(record.waited));
}

void RecordRateLimits(std::span<RateLimitSeries* const> limits, const RateLimitRecord& record) {
  if (!record.checked) return;
  if (record.refused_by >= 0) {
    limits[static_cast<size_t>(record.refused_by)]->rejected.Add();
    return;
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    const bool delayed = static_cast<int>(i) == record.delayed_by;
    (delayed ? limits[i]->delayed : limits[i]->admitted).Add();
  }
}

}  // namespace levee
