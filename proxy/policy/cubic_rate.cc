// SPDX-License-Identifier: Apache-2.0
#include "policy/cubic_rate.h"

#include <algorithm>
#include <cmath>

namespace levee {
namespace {

constexpr double kBeta = 0.7;
constexpr double kScale = 0.4;
constexpr double kMinRate = 0.5;
constexpr double kSmoothing = 0.8;
constexpr int64_t kHalfSecondNanos = 500'000'000;

}  // namespace

double CubicRate::RateAt(Instant now) const {
  const double from_plateau = std::max(0.0, absl::ToDoubleSeconds(now - decreased_at_)) - k_;
  const double curve = c_ * from_plateau * from_plateau * from_plateau + w_max_;
  return std::min(configured_, std::max(kMinRate, curve));
}

void CubicRate::RecordPermit(Instant now) {
  CloseHalfSecond(now);
  ++permits_;
}

void CubicRate::OnOverloaded(Instant attempt_start, Instant now) {
  if (attempt_start <= decreased_at_) return;
  CloseHalfSecond(now);
  w_max_ = std::min(RateAt(now), MeasuredRate());
  const double drop = w_max_ * (1 - kBeta);
  const double longest = absl::ToDoubleSeconds(kLongestClimb);
  c_ = std::max(kScale, drop / (longest * longest * longest));
  k_ = std::cbrt(drop / c_);
  decreased_at_ = now;
}

void CubicRate::CloseHalfSecond(Instant now) {
  const int64_t current = now.nanos() / kHalfSecondNanos;
  if (half_second_ == kNone) half_second_ = current;
  if (current <= half_second_) return;
  const double seconds = 0.5 * static_cast<double>(current - half_second_);
  const double rate = static_cast<double>(permits_) / seconds;
  smoothed_ = kSmoothing * rate + (1 - kSmoothing) * smoothed_;
  half_second_ = current;
  permits_ = 0;
}

// The current half second counts as soon as it shows a higher rate by itself. Without that, an
// overload in a limit's first moments, or in a rush after a quiet time, would be taken for the
// overload of a caller who sends almost nothing, and would almost stop that caller.
double CubicRate::MeasuredRate() const {
  return std::max(smoothed_, static_cast<double>(permits_) / 0.5);
}

}  // namespace levee
