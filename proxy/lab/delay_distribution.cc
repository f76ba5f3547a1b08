// SPDX-License-Identifier: Apache-2.0
#include "lab/delay_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/numeric/int128.h"

namespace levee {
namespace {

// Returns the sum of floor((a x k + b) / m) over all k below `n`, as Euclid's algorithm finds it.
double FloorSum(absl::uint128 n, absl::uint128 m, absl::uint128 a, absl::uint128 b) {
  absl::uint128 sum = 0;
  while (n > 0) {
    sum += (a / m) * (n * (n - 1) / 2) + (b / m) * n;
    a %= m;
    b %= m;
    const absl::uint128 end = a * n + b;
    n = end / m;
    b = end % m;
    std::swap(m, a);
  }
  return static_cast<double>(sum);
}

}  // namespace

DelayDistribution::DelayDistribution(const DelayLaw& law)
    : least_(absl::ToInt64Nanoseconds(law.least)),
      step_(absl::ToInt64Nanoseconds(law.step)),
      tick_(absl::ToInt64Nanoseconds(law.tick)),
      most_(law.most),
      count_(std::max<uint64_t>(law.steps, 1)),
      unbound_(CountBelow(law.most)) {}

absl::Duration DelayDistribution::Mean() const {
  double sum = SumOfFirst(unbound_);
  if (unbound_ < count_) {
    sum += static_cast<double>(count_ - unbound_) * absl::ToDoubleNanoseconds(most_);
  }
  return absl::Nanoseconds(sum / static_cast<double>(count_));
}

absl::Duration DelayDistribution::Quantile(double p) const {
  const double rank = std::ceil(p * static_cast<double>(count_));
  return Value(std::min(static_cast<uint64_t>(std::max(rank, 1.0)), count_) - 1);
}

double DelayDistribution::ShareFrom(absl::Duration bound) const {
  return static_cast<double>(count_ - CountBelow(bound)) / static_cast<double>(count_);
}

double DelayDistribution::MeanShortfall(absl::Duration bound) const {
  const double nanos = absl::ToDoubleNanoseconds(bound);
  if (bound > most_) return nanos - absl::ToDoubleNanoseconds(Mean());
  const uint64_t below = CountBelow(bound);
  return (static_cast<double>(below) * nanos - SumOfFirst(below)) / static_cast<double>(count_);
}

absl::Duration DelayDistribution::Value(uint64_t k) const {
  if (k >= unbound_) return most_;
  const auto ticks = (static_cast<int64_t>(k) * step_ + tick_ - 1) / tick_;
  return absl::Nanoseconds(least_ + ticks * tick_);
}

uint64_t DelayDistribution::CountBelow(absl::Duration bound) const {
  if (bound > most_ || bound == absl::InfiniteDuration()) return count_;
  // A fraction of a nanosecond above a value leaves that value below the bound.
  const int64_t room = absl::ToInt64Nanoseconds(absl::Ceil(bound, absl::Nanoseconds(1))) - least_;
  if (room <= 0) return 0;
  const int64_t last = (room - 1) / tick_ * tick_;  // the largest multiple of a tick below it
  return std::min(static_cast<uint64_t>(last / step_) + 1, count_);
}

double DelayDistribution::SumOfFirst(uint64_t n) const {
  const double ticks = FloorSum(n, static_cast<uint64_t>(tick_), static_cast<uint64_t>(step_),
                                static_cast<uint64_t>(tick_ - 1));
  return static_cast<double>(n) * static_cast<double>(least_) + ticks * static_cast<double>(tick_);
}

}  // namespace levee
