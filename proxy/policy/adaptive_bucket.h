// SPDX-License-Identifier: Apache-2.0
// The bucket of an adaptive rate limit: its rate falls when the upstream is overloaded.
#pragma once

#include <cstdint>
#include <mutex>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/cubic_rate.h"
#include "policy/gcra.h"

namespace levee {

// A token bucket that decides as GCRA does, but whose rate may change. Calls that wait have taken
// tokens that are not there yet. While the rate is lowered, the bucket keeps at most the tokens of
// one second, as in the AWS SDKs: a large burst saved up before the overload would otherwise hide
// the decrease.
//
// Permits become due in the order in which they were taken, also when the rate rises while calls
// wait. Due times are exact to the nanosecond. Starts full. Any thread, with a lock. All calls of a
// bucket must pass the same rule.
class AdaptiveBucket {
 public:
  struct Rule {
    double per_second;  // above zero
    int burst;          // at least 1
  };

  explicit AdaptiveBucket(const Rule& rule) : rate_(rule.per_second), tokens_(rule.burst) {}

  // As Gcra's functions of these names. The bucket is idle only if its rate is not lowered either.
  RatePermit Take(const Rule& rule, Instant now, absl::Duration max_wait);
  RatePermit Check(const Rule& rule, Instant now, absl::Duration max_wait);
  void Return(const Rule& rule, const RatePermit& permit);
  bool IdleAt(const Rule& rule, Instant now);

  // As CubicRate::OnOverloaded.
  void OnOverloaded(const Rule& rule, Instant attempt_start, Instant now);

 private:
  // All with mutex_ held.
  double Capacity(const Rule& rule, Instant now) const;
  void Refill(const Rule& rule, Instant now);
  RatePermit Decide(const Rule& rule, Instant now, absl::Duration max_wait);

  std::mutex mutex_;
  CubicRate rate_;
  double tokens_;
  Instant refilled_at_;
  Instant last_due_;  // of the permits that had to wait
  int64_t taken_ = 0;
};

}  // namespace levee
