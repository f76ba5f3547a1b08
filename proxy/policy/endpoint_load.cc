// SPDX-License-Identifier: Apache-2.0
#include "policy/endpoint_load.h"

#include <algorithm>
#include <cmath>

namespace levee {
namespace {

constexpr double kLeastShare = 0.1;

double Nanos(absl::Duration span) {
  return static_cast<double>(std::max<int64_t>(absl::ToInt64Nanoseconds(span), 1));
}

// Returns the share of its weight that an estimate keeps from one instant to another. Plain numbers
// are used because each call asks several times.
double Kept(Instant from, Instant to) {
  constexpr double kPerNano = -1e-9 / 10;
  static_assert(EndpointLoad::kDecay == absl::Seconds(10));
  return std::exp(kPerNano * static_cast<double>(to.nanos() - from.nanos()));
}

}  // namespace

double EndpointLoad::Estimate(Instant now) const { return estimate_ * Kept(updated_, now); }

void EndpointLoad::RecordAnswer(absl::Duration latency, Instant now) {
  const double sample = Nanos(latency);
  // A latency above the estimate needs no weights.
  if (sample < estimate_) {
    const double kept = Kept(updated_, now);
    estimate_ = estimate_ * kept + sample * (1 - kept);
  } else {
    estimate_ = sample;
  }
  updated_ = now;
}

void EndpointLoad::RecordGivenUp(absl::Duration waited, Instant now) {
  if (Nanos(waited) > Estimate(now)) RecordAnswer(waited, now);
}

double EndpointLoad::Cost(int active, Instant now) const {
  return Estimate(now) * static_cast<double>(active + 1);
}

void EndpointLoad::Restart(Instant now) {
  estimate_ = 0;
  slow_until_ = now + kSlowStart;
}

double EndpointLoad::Share(Instant now) const {
  if (now >= slow_until_) return 1;
  return std::max(kLeastShare, 1 - Nanos(slow_until_ - now) / Nanos(kSlowStart));
}

}  // namespace levee
