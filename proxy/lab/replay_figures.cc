// SPDX-License-Identifier: Apache-2.0
#include "lab/replay_figures.h"

#include <algorithm>

#include "lab/ratio.h"

namespace levee {

double ReplayFigures::amplification() const { return Ratio(attempts, calls); }
double ReplayFigures::success() const { return Ratio(good, calls); }

void ReplayTally::Add(const CallEnd& end) {
  ++sums_.calls;
  sums_.attempts += end.attempts;
  sums_.unsent += end.attempts == 0;
  Second& second = seconds_[absl::ToInt64Seconds(end.at)];
  ++second.calls;
  second.attempts += end.attempts;
  if (!end.ok) return;
  ++sums_.good;
  sums_.rescued += end.first_failed;
  good_s_.push_back(absl::ToDoubleSeconds(end.took));
}

ReplayFigures ReplayTally::Figures() {
  ReplayFigures figures = sums_;
  for (const auto& [number, second] : seconds_) {
    figures.worst_second = std::max(figures.worst_second, Ratio(second.attempts, second.calls));
  }
  if (good_s_.empty()) return figures;
  std::sort(good_s_.begin(), good_s_.end());
  figures.p50_s = good_s_[(good_s_.size() - 1) / 2];
  figures.p99_s = good_s_[(good_s_.size() - 1) * 99 / 100];
  return figures;
}

}  // namespace levee
