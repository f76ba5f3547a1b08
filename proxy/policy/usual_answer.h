// SPDX-License-Identifier: Apache-2.0
// The time within which nine of ten answers of one method come.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace levee {

// An estimate in 16 bytes, since each plan has one, where a LatencyEstimate has 2 KiB. An answer
// that takes longer lifts it by an eighth, but not above itself; each other one lowers it by a
// ninth of that, so it rests where one in ten takes longer (as in Ma, Muthukrishnan and Sandler,
// "Frugal Streaming for Estimating Quantiles", 2013). One thread.
class UsualAnswer {
 public:
  // An attempt was answered after `took`.
  void Record(absl::Duration took) {
    const int64_t nanos = absl::ToInt64Nanoseconds(took);
    if (known_ < kFewest) {
      ++known_;
      nanos_ = std::max(nanos_, nanos);
    } else if (nanos > nanos_) {
      nanos_ = std::min(nanos, nanos_ + nanos_ / kUp + 1);
    } else {
      nanos_ -= nanos_ / kDown;
    }
  }

  // Whether an attempt that was given up after `waited` had the time in which answers come. False
  // while nothing is known. Some callers leave a little before their deadline.
  bool HadTime(absl::Duration waited) const {
    return known_ == kFewest && absl::ToInt64Nanoseconds(waited) >= nanos_ - nanos_ / 9;
  }

 private:
  static constexpr int kFewest = 8;
  static constexpr int64_t kUp = 8;
  static constexpr int64_t kDown = 9 * kUp;

  int64_t nanos_ = 0;
  int known_ = 0;  // answers; kFewest at most
};

}  // namespace levee
