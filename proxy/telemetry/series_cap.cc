// SPDX-License-Identifier: Apache-2.0
#include "telemetry/series_cap.h"

#include <limits>

namespace levee {

void SeriesCap::SetLimit(int series) {
  const std::lock_guard lock(mutex_);
  limit_ = series;
}

void SeriesCap::Reserve(int64_t series) {
  const std::lock_guard lock(mutex_);
  taken_ += series;
}

bool SeriesCap::Take(int64_t series) {
  const std::lock_guard lock(mutex_);
  if (taken_ + series > limit_ - limit_ / kSpareShare) {
    ++hits_;
    return false;
  }
  taken_ += series;
  return true;
}

bool SeriesCap::Show(const void* row, int number, int64_t series) {
  const std::lock_guard lock(mutex_);
  if (shown_.contains({row, number})) return true;
  if (taken_ + series > limit_) {
    ++hits_;
    return false;
  }
  taken_ += series;
  shown_.emplace(std::pair(row, number), series);
  return true;
}

void SeriesCap::Forget(const void* row) {
  const std::lock_guard lock(mutex_);
  auto shown = shown_.lower_bound({row, std::numeric_limits<int>::min()});
  while (shown != shown_.end() && shown->first.first == row) {
    taken_ -= shown->second;
    shown = shown_.erase(shown);
  }
}

int64_t SeriesCap::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

uint64_t SeriesCap::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

}  // namespace levee
