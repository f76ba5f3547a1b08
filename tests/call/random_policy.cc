// SPDX-License-Identifier: Apache-2.0
#include "call/random_policy.h"

namespace levee {
namespace {

absl::Duration WholeMs(int64_t n) { return absl::Milliseconds(n); }

BackoffPolicy DrawnBackoff(const Draws& draws) {
  BackoffPolicy backoff;
  backoff.kind = draws.OneOf({BackoffPolicy::Kind::kExponential, BackoffPolicy::Kind::kExponential,
                              BackoffPolicy::Kind::kSchedule, BackoffPolicy::Kind::kSlot});
  backoff.schedule = {draws.UpTo(200), draws.UpTo(1000)};
  backoff.slot = WholeMs(1) + draws.UpTo(20);
  backoff.truncate = draws.OneOf({1, 5});
  backoff.cap_after_jitter = draws.Chance(0.5);
  backoff.max_elapsed = draws.OneOf({WholeMs(100), absl::InfiniteDuration()});
  backoff.max_advice = draws.OneOf({WholeMs(10), absl::Seconds(60)});
  backoff.initial = WholeMs(1) + draws.UpTo(200);
  backoff.multiplier = draws.OneOf({1.0, 2.0, 4.0});
  backoff.max = backoff.initial + draws.UpTo(2000);
  backoff.jitter = draws.OneOf({Jitter::kNone, Jitter::kFull, Jitter::kEqual, Jitter::kFactor,
                                Jitter::kAdd, Jitter::kDecorrelated});
  backoff.factor = 0.2;
  backoff.add = WholeMs(50);
  return backoff;
}

RetryRule DrawnRule(const Draws& draws) {
  RetryRule rule;
  if (draws.Chance(0.5)) rule.codes.Add(StatusCode::kInternal);
  if (draws.Chance(0.5)) rule.http.AddClass(5);
  rule.failures.reset = draws.Chance(0.5);
  rule.max_attempts = draws.OneOf({1, 2, 4});
  rule.backoff = DrawnBackoff(draws);
  return rule;
}

RetryPolicy Retry(const Draws& draws) {
  RetryPolicy retry;
  retry.max_attempts = draws.OneOf({1, 2, 3, 6});
  if (draws.Chance(0.3)) retry.codes.Add(StatusCode::kInternal);
  retry.failures = {.refused = draws.Chance(0.8),
                    .connect = draws.Chance(0.8),
                    .reset = draws.Chance(0.5),
                    .timeout = draws.Chance(0.5)};
  if (draws.Chance(0.3)) retry.attempt_timeout = draws.UpTo(200);
  retry.backoff = DrawnBackoff(draws);
  retry.budget.ratio = draws.OneOf({0.0, 0.1, 0.3, 1.0});
  retry.budget.window = draws.OneOf({WholeMs(500), WholeMs(10'000), WholeMs(60'000)});
  retry.budget.floor_per_second = draws.OneOf({0.0, 0.5, 1.0, 5.0});
  retry.budget.floor_min_success = draws.OneOf({0.0, 0.5, 0.8, 1.0});
  retry.buffer_bytes = draws.OneOf<size_t>({0, 8, 64 * 1024});
  retry.commit = draws.OneOf({CommitMode::kAuto, CommitMode::kHeaders});
  retry.hold = draws.OneOf({WholeMs(0), WholeMs(20), absl::InfiniteDuration()});
  retry.exhausted = draws.OneOf(
      {ExhaustedMode::kAuto, ExhaustedMode::kReplace, ExhaustedMode::kMark, ExhaustedMode::kKeep});
  retry.min_remaining = draws.Chance(0.5);
  if (draws.Chance(0.1)) retry.mode = RetryMode::kObserve;
  if (draws.Chance(0.3)) retry.http.Add(404);
  for (uint64_t i = draws.below(3); i > 0; --i) retry.rules.push_back(DrawnRule(draws));
  retry.app_retries = draws.OneOf({AppRetries::kLimit, AppRetries::kCount, AppRetries::kIgnore});
  return retry;
}

HedgePolicy Hedge(const Draws& draws) {
  HedgePolicy hedge;
  hedge.delay = draws.UpTo(draws.OneOf({0, 20, 200}));
  hedge.quantile = draws.OneOf({0.0, 0.5, 0.9});
  hedge.max_attempts = draws.OneOf({2, 3, 5});
  if (draws.Chance(0.5)) hedge.non_fatal.Add(StatusCode::kInternal);
  return hedge;
}

RateLimitPolicy RateLimit(const Draws& draws) {
  RateLimitPolicy limit;
  limit.name = "limit";
  limit.per_second = draws.OneOf({0.5, 10.0, 1000.0});
  limit.burst = draws.OneOf({1, 20});
  limit.max_wait = draws.OneOf({WholeMs(0), WholeMs(100), WholeMs(5000)});
  limit.adaptive = draws.Chance(0.3);
  return limit;
}

}  // namespace

CallPolicy RandomPolicy(const Draws& draws) {
  CallPolicy policy;
  policy.retry = Retry(draws);
  policy.idempotency =
      draws.OneOf({IdempotencyMode::kAuto, IdempotencyMode::kAlways, IdempotencyMode::kNever});
  if (draws.Chance(0.3)) policy.timeout = draws.UpTo(3000);
  if (draws.Chance(0.3)) {
    policy.hedge = Hedge(draws);
    policy.retry.max_attempts = 1;
  }
  if (draws.Chance(0.3)) policy.rate_limits.push_back(RateLimit(draws));
  return policy;
}

absl::Duration RandomDelay(const Draws& draws) {
  return draws.OneOf({WholeMs(0), draws.UpTo(50), draws.UpTo(3000), absl::InfiniteDuration()});
}

}  // namespace levee
