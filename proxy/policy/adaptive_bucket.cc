// SPDX-License-Identifier: Apache-2.0
#include "policy/adaptive_bucket.h"

#include <algorithm>

namespace levee {
RatePermit AdaptiveBucket::Take(const Rule& rule, Instant now, absl::Duration max_wait) {
  const std::lock_guard lock(mutex_);
  const RatePermit permit = Decide(rule, now, max_wait);
  if (!permit.granted) return permit;
  tokens_ -= 1;
  taken_ = permit.mark;
  if (permit.wait > absl::ZeroDuration()) last_due_ = now + permit.wait;
  rate_.RecordPermit(now);
  return permit;
}

RatePermit AdaptiveBucket::Check(const Rule& rule, Instant now, absl::Duration max_wait) {
  const std::lock_guard lock(mutex_);
  return Decide(rule, now, max_wait);
}

void AdaptiveBucket::Return(const Rule& rule, const RatePermit& permit) {
  const std::lock_guard lock(mutex_);
  if (taken_ != permit.mark) return;
  --taken_;
  tokens_ = std::min(tokens_ + 1, Capacity(rule, refilled_at_));
}

bool AdaptiveBucket::IdleAt(const Rule& rule, Instant now) {
  const std::lock_guard lock(mutex_);
  Refill(rule, now);
  return tokens_ >= rule.burst && !rate_.LoweredAt(now);
}

void AdaptiveBucket::OnOverloaded(const Rule& rule, Instant attempt_start, Instant now) {
  const std::lock_guard lock(mutex_);
  Refill(rule, now);
  rate_.OnOverloaded(attempt_start, now);
  tokens_ = std::min(tokens_, Capacity(rule, now));
}

double AdaptiveBucket::Capacity(const Rule& rule, Instant now) const {
  const double rate = rate_.RateAt(now);
  if (rate >= rule.per_second) return rule.burst;
  return std::min<double>(rule.burst, std::max(1.0, rate));
}

void AdaptiveBucket::Refill(const Rule& rule, Instant now) {
  if (now <= refilled_at_) return;
  const double seconds = absl::ToDoubleSeconds(now - refilled_at_);
  tokens_ = std::min(tokens_ + seconds * rate_.RateAt(now), Capacity(rule, now));
  refilled_at_ = now;
}

RatePermit AdaptiveBucket::Decide(const Rule& rule, Instant now, absl::Duration max_wait) {
  Refill(rule, now);
  RatePermit permit;
  permit.mark = taken_ + 1;
  const double missing = 1 - tokens_;
  if (missing > 0) {
    // A `now` that lags behind another worker's also waits until the bucket's own instant.
    permit.wait =
        absl::Ceil(absl::Seconds(missing / rate_.RateAt(refilled_at_)), absl::Nanoseconds(1)) +
        (refilled_at_ - now);
  }
  // The rate may have risen since other calls were told how long to wait.
  if (last_due_ > now) permit.wait = std::max(permit.wait, last_due_ - now);
  permit.granted = permit.wait <= max_wait;
  return permit;
}

}  // namespace levee
