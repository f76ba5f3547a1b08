// SPDX-License-Identifier: Apache-2.0
#include "policy/spare_room.h"

#include <algorithm>
#include <cmath>

namespace levee {
namespace {

constexpr int kRecentAnswers = 20;
constexpr int kUsualAnswers = 200;
constexpr double kCrowded = 2;  // times what is usual

constexpr absl::Duration kEvery = absl::Milliseconds(100);
constexpr absl::Duration kAtMost = absl::Seconds(1);  // of it counts between two answers
constexpr double kLess = 0.7;
constexpr double kMore = 1.3;
constexpr absl::Duration kForgotten = absl::Seconds(10);  // after the last one was ejected

}  // namespace

void SpareRoom::Record(absl::Duration latency, bool ejected, int usable, Instant now) {
  const auto sample = static_cast<double>(absl::ToInt64Nanoseconds(latency));
  recent_ += (sample - recent_) / kRecentAnswers;
  // Where some were bad from the first call on, the first answers tell what is usual.
  if (!ejected || usual_of_ < kRecentAnswers) {
    usual_of_ = std::min(usual_of_ + 1, kUsualAnswers);
    usual_ += (sample - usual_) / usual_of_;
  }
  if (ejected) {
    Adjust(usable, now);
  } else if (room_ > 1 && now - set_at_ >= kForgotten) {
    room_ = 1;
  }
}

void SpareRoom::Adjust(int usable, Instant now) {
  const absl::Duration since = now - set_at_;
  if (since < kEvery) return;
  set_at_ = now;
  if (recent_ > kCrowded * usual_) {
    room_ = std::max(1.0, room_ * kLess);
  } else {
    const double steps = absl::FDivDuration(std::min(since, kAtMost), kEvery);
    room_ = std::min(room_ * std::pow(kMore, steps), static_cast<double>(usable));
  }
}

double SpareRoom::For(int good, int ejected) const {
  return std::min(1.0, (room_ - 1) * good / ejected);
}

}  // namespace levee
