// SPDX-License-Identifier: Apache-2.0
#include "policy/success_share.h"

#include <algorithm>

#include "policy/decay.h"

namespace levee {
namespace {

constexpr double kSpanNanos = 2e9;
constexpr double kLeastKept = 0.8;  // of what is known, at each attempt
constexpr double kForgivenNanos = 5e9;

// Plain numbers are used because each call asks.
double Nanos(Instant since, Instant now) {
  return static_cast<double>(now.nanos() - since.nanos());
}

}  // namespace

void SuccessShare::Record(bool success, Instant now) {
  // Most failures at one instant are calls that ended with the same broken connection.
  if (!success && failing() && now == ended_) return;
  const double kept = std::max(1 - Nanos(ended_, now) / kSpanNanos, kLeastKept);
  good_ = good_ * kept + (success ? 1 : 0);
  all_ = all_ * kept + 1;
  ended_ = now;
  failures_ = success ? 0 : failures_ + 1;
  failing_since_ = success ? Instant::Infinite() : std::min(failing_since_, now);
}

double SuccessShare::ExpectedAfterFailure(Instant now) const {
  const double kept = LeftAfter(Nanos(ended_, now) / kForgivenNanos);
  return (good_ * kept + 1) / (all_ * kept + 1);
}

}  // namespace levee
