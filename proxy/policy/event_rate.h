// SPDX-License-Identifier: Apache-2.0
// How often something happens, as an exponentially weighted average.
#pragma once

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Events per second, the older ones weighted less by exp(-age / span). One thread.
class EventRate {
 public:
  // `span`: the time constant, above zero.
  explicit EventRate(absl::Duration span) : span_(absl::ToDoubleSeconds(span)) {}

  // `now` may lie a little before that of an earlier event.
  void Add(Instant now, double events = 1) {
    sum_ = Sum(now) + events;
    at_ = std::max(at_, now);
    first_ = std::min(first_, now);
  }

  double At(Instant now) const { return Sum(now) / span_; }

  // As At, but does not take the time before the first event for one without events.
  double SinceFirstAt(Instant now) const {
    if (first_.is_infinite()) return 0;
    const double age = std::max(absl::ToDoubleSeconds(now - first_), kLeastAge * span_);
    return At(now) / (1 - std::exp(-age / span_));
  }

 private:
  // Two events at once are no rate.
  static constexpr double kLeastAge = 0.1;

  double Sum(Instant now) const {
    if (now <= at_) return sum_;
    return sum_ * std::exp(-absl::ToDoubleSeconds(now - at_) / span_);
  }

  double span_;  // seconds
  double sum_ = 0;
  Instant at_;
  Instant first_ = Instant::Infinite();
};

}  // namespace levee
