// SPDX-License-Identifier: Apache-2.0
#include "policy/outlier.h"

#include <algorithm>
#include <cmath>

namespace levee {

bool Outlier::Record(bool success, Instant now) {
  if (success) {
    failures_ = 0;
  } else if (now == last_failure_) {
    return false;
  } else {
    ++failures_;
    last_failure_ = now;
  }
  window_.Record(success, now);
  return true;
}

bool Outlier::ShouldEject(const EjectionPolicy& policy, SuccessWindow& all, Instant now) {
  if (failures_ >= policy.failures) return true;
  const SuccessWindow::Sum own = window_.Count(now);
  const SuccessWindow::Sum total = all.Count(now);
  const int64_t others = total.ended - own.ended;
  if (own.ended < policy.attempts || others < policy.attempts) return false;
  const auto n = static_cast<double>(own.ended);
  const auto m = static_cast<double>(others);
  const double rate = static_cast<double>(total.succeeded - own.succeeded) / m;
  const double expected = n * rate;
  const double by_chance = 3 * n * std::sqrt(rate * (1 - rate) * (1 / n + 1 / m));
  const auto succeeded = static_cast<double>(own.succeeded);
  return succeeded < policy.success * expected && succeeded < expected - by_chance;
}

void Outlier::Eject(const EjectionPolicy& policy, Instant now) {
  const int64_t healthy = (now - returned_) / policy.base;
  doublings_ -= static_cast<int>(std::min<int64_t>(healthy, doublings_));
  until_ = now + std::min(policy.base * (int64_t{1} << doublings_), policy.max);
  // After the longest ejection there is nothing to double.
  if (until_ < now + policy.max) ++doublings_;
  ejected_ = true;
}

void Outlier::Return(Instant now) {
  ejected_ = false;
  failures_ = 0;
  returned_ = now;
}

}  // namespace levee
