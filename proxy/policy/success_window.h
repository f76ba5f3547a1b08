// SPDX-License-Identifier: Apache-2.0
// How many of the attempts that ended lately succeeded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// The attempts of the current second and of the nine before it. A value without clock; one thread;
// `now` never goes backward.
class SuccessWindow {
 public:
  static constexpr absl::Duration kSpan = absl::Seconds(10);

  struct Sum {
    int64_t ended = 0;
    int64_t succeeded = 0;
  };

  void Record(bool success, Instant now) {
    Forget(now);
    Sum& second = seconds_[static_cast<size_t>(newest_) % seconds_.size()];
    ++second.ended;
    ++sum_.ended;
    if (!success) return;
    ++second.succeeded;
    ++sum_.succeeded;
  }

  Sum Count(Instant now) {
    Forget(now);
    return sum_;
  }

 private:
  static constexpr int64_t kNanos = 1'000'000'000;
  static constexpr int64_t kSeconds = 10;
  static_assert(kSpan == absl::Seconds(kSeconds));

  // Empties the seconds that have left the window since it was last used.
  void Forget(Instant now) {
    const int64_t second = now.nanos() / kNanos;
    if (second <= newest_) return;
    for (int64_t n = std::max(newest_ + 1, second - kSeconds + 1); n <= second; ++n) {
      Sum& oldest = seconds_[static_cast<size_t>(n) % seconds_.size()];
      sum_.ended -= oldest.ended;
      sum_.succeeded -= oldest.succeeded;
      oldest = Sum();
    }
    newest_ = second;
  }

  std::array<Sum, kSeconds> seconds_{};
  Sum sum_;  // of them all
  int64_t newest_ = 0;
};

}  // namespace levee
