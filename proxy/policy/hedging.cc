// SPDX-License-Identifier: Apache-2.0
#include "policy/hedging.h"

namespace levee {

CallPolicy RetryPolicyOfHedging(const CallPolicy& policy) {
  CallPolicy hedged = policy;
  RetryPolicy& retry = hedged.retry;
  retry.codes = policy.hedge->non_fatal;
  retry.max_attempts = policy.hedge->max_attempts;
  retry.rules.clear();
  retry.backoff = BackoffPolicy();
  retry.backoff.kind = BackoffPolicy::Kind::kSchedule;
  retry.backoff.schedule = {absl::ZeroDuration()};
  retry.backoff.max_elapsed = policy.retry.backoff.max_elapsed;
  retry.backoff.max_advice = policy.retry.backoff.max_advice;
  return hedged;
}

absl::Duration HedgeDelay(const HedgePolicy& policy, LatencyEstimate& latency, Instant now) {
  if (policy.quantile == 0) return policy.delay;
  return latency.Quantile(policy.quantile, now).value_or(absl::InfiniteDuration());
}

std::optional<RefusalReason> RefuseHedge(const CallPolicy& policy, const RetryFacts& facts,
                                         Instant now, RetryBudget& budget, int worker) {
  if (facts.attempts >= policy.retry.max_attempts) return RefusalReason::kMaxAttempts;
  if (!facts.replayable) return RefusalReason::kBuffer;
  const absl::Duration expected =
      policy.retry.min_remaining ? facts.expected : absl::ZeroDuration();
  if (now + expected >= facts.deadline) return RefusalReason::kDeadline;
  if (!budget.Withdraw(worker, now)) return RefusalReason::kBudget;
  if (policy.retry.mode == RetryMode::kObserve) return RefusalReason::kObserve;
  return std::nullopt;
}

}  // namespace levee
