// SPDX-License-Identifier: Apache-2.0
// How long calls took: counts per millisecond, so that many calls need no more memory than few.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace levee::demo {

class CallTimes {
 public:
  void Add(absl::Duration took) {
    const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(took), 0, kLongest);
    ++counts_[static_cast<size_t>(ms)];
    ++count_;
  }

  // Returns what the `share` of the calls did not exceed, in whole milliseconds, rounded up;
  // nullopt without calls.
  std::optional<absl::Duration> Percentile(double share) const {
    if (count_ == 0) return std::nullopt;
    const auto rank =
        std::max<int64_t>(1, static_cast<int64_t>(std::ceil(share * static_cast<double>(count_))));
    int64_t seen = 0;
    size_t ms = 0;
    while ((seen += counts_[ms]) < rank) ++ms;
    return absl::Milliseconds(ms + 1);
  }

 private:
  // In milliseconds. A call that took longer counts as this long, which no deadline of the demo is.
  static constexpr int64_t kLongest = 1500;

  std::array<int64_t, kLongest + 1> counts_ = {};
  int64_t count_ = 0;
};

}  // namespace levee::demo
