// SPDX-License-Identifier: Apache-2.0
// The rate of an adaptive limit: lowered when the upstream is overloaded, then probing upward.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// CUBIC as the AWS SDKs' adaptive retry mode uses it for a client's sending rate (botocore,
// retries/throttling.py and retries/adaptive.py), after the congestion control of RFC 8312 and
// RFC 9438, in permits per second. Once overloaded, with t seconds since then,
//
//     rate = min(configured, C x (t - K)^3 + w_max),   K = cbrt(w_max x (1 - beta) / C),
//
// beta = 0.7, C = 0.4, or as much more as K = kLongestClimb needs: the rate falls to beta x w_max,
// climbs back steeply at first, stays near w_max around K, where the trouble was, and then probes
// ever faster beyond. With C = 0.4 alone, as in the SDKs, the way back takes longer the higher the
// rate is (7.7 s at 600 per second), while a service is back as soon as its queue is empty. w_max
// is the rate at the moment of the overload, or the measured rate of permits if that is lower: the
// decrease would otherwise not slow a caller who uses less than the rate.
//
// As in the SDKs, the rate never falls below 0.5 per second (or the configured rate, if lower), so
// that it can rise again. Until the first overload it is the configured one. One thread.
class CubicRate {
 public:
  static constexpr absl::Duration kLongestClimb = absl::Milliseconds(500);  // back to w_max

  // `configured`: permits per second, above zero.
  explicit CubicRate(double configured) : configured_(configured), w_max_(configured) {}

  double RateAt(Instant now) const;
  bool LoweredAt(Instant now) const { return RateAt(now) < configured_; }

  // A permit was granted. Feeds the measured rate: half seconds, smoothed with 0.8.
  void RecordPermit(Instant now);

  // An attempt that was started at `attempt_start` found the upstream overloaded. An attempt from
  // before the last decrease says nothing new, so attempts that run at the same time lower the rate
  // only once.
  void OnOverloaded(Instant attempt_start, Instant now);

 private:
  void CloseHalfSecond(Instant now);
  double MeasuredRate() const;

  double configured_;
  double w_max_;
  double k_ = 0;  // seconds
  double c_ = 0;  // per second, to the fourth power
  Instant decreased_at_ = Instant::FromNanos(INT64_MIN);

  static constexpr int64_t kNone = INT64_MIN;
  int64_t half_second_ = kNone;  // the number of the one that permits_ counts
  int64_t permits_ = 0;
  double smoothed_ = 0;  // per second, over the half seconds before
};

}  // namespace levee
