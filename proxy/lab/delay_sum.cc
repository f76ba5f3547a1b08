// SPDX-License-Identifier: Apache-2.0
#include "lab/delay_sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace levee {
namespace {

constexpr int64_t kPoints = 8192;

}  // namespace

void DelaySum::Add(const DelayDistribution& delay) {
  least_ += delay.Min();
  if (delay.Max() == delay.Min()) return;
  range_ += delay.Max() - delay.Min();
  Widen(range_, delay.tick());
  varies_.reset();
  if (++varying_ == 1) varies_.emplace(delay);
  const std::vector<double> added = OnLattice(delay);
  std::vector<double> sum(shares_.size() + added.size() - 1);
  for (size_t i = 0; i < shares_.size(); ++i) {
    for (size_t j = 0; j < added.size(); ++j) sum[i + j] += shares_[i] * added[j];
  }
  shares_ = std::move(sum);
}

void DelaySum::Widen(absl::Duration range, absl::Duration tick) {
  const absl::Duration wanted = absl::Ceil(range / kPoints, tick);
  if (pitch_ == absl::ZeroDuration()) {
    pitch_ = wanted;
  } else if (pitch_ < wanted) {
    // Twice as coarse as it has to be, so that this is seldom done.
    absl::Duration rest;
    Coarsen(2 * absl::IDivDuration(wanted, pitch_, &rest) + 1);
  }
  exact_ = pitch_ == tick && tick > absl::Nanoseconds(1);
}

void DelaySum::Coarsen(int64_t factor) {
  std::vector<double> coarse((shares_.size() - 1) / static_cast<size_t>(factor) + 2);
  for (size_t i = 0; i < shares_.size(); ++i) {
    const size_t below = i / static_cast<size_t>(factor);
    const double above =
        static_cast<double>(i % static_cast<size_t>(factor)) / static_cast<double>(factor);
    coarse[below] += shares_[i] * (1 - above);
    coarse[below + 1] += shares_[i] * above;
  }
  shares_ = std::move(coarse);
  pitch_ *= factor;
}

absl::Duration DelaySum::Quantile(double p) const {
  if (varying_ == 0) return least_;
  if (varies_.has_value()) return least_ - varies_->Min() + varies_->Quantile(p);
  double below = 0;
  for (size_t i = 0; i < shares_.size(); ++i) {
    if (below + shares_[i] < p) {
      below += shares_[i];
      continue;
    }
    // Between two points sums are taken to be spread evenly.
    const double within = exact_ ? 0 : (p - below) / shares_[i] - 0.5;
    return least_ + pitch_ * std::max(static_cast<double>(i) + within, 0.0);
  }
  return least_ + pitch_ * static_cast<double>(shares_.size() - 1);
}

double DelaySum::ShareFrom(absl::Duration bound) const {
  if (varying_ == 0) return bound <= least_ ? 1 : 0;
  if (varies_.has_value()) return varies_->ShareFrom(bound - least_ + varies_->Min());
  const double point = absl::FDivDuration(bound - least_, pitch_);
  double share = 0;
  for (size_t i = 0; i < shares_.size(); ++i) {
    const double above = static_cast<double>(i) - point;
    share += shares_[i] * (exact_ ? (above >= 0 ? 1 : 0) : std::clamp(above + 0.5, 0.0, 1.0));
  }
  return std::min(share, 1.0);
}

// How much of a delay belongs to a point is the second difference of its mean shortfall.
std::vector<double> DelaySum::OnLattice(const DelayDistribution& delay) const {
  const auto points =
      static_cast<size_t>(std::ceil(absl::FDivDuration(delay.Max() - delay.Min(), pitch_))) + 1;
  const double pitch = absl::ToDoubleNanoseconds(pitch_);
  std::vector<double> shares;
  double previous = 0;  // slopes
  double at = 0;
  for (size_t i = 0; i < points; ++i) {
    const double next = delay.MeanShortfall(delay.Min() + pitch_ * static_cast<int64_t>(i + 1));
    const double slope = (next - at) / pitch;
    shares.push_back(std::max(slope - previous, 0.0));
    previous = slope;
    at = next;
  }
  return shares;
}

}  // namespace levee
