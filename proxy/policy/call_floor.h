// SPDX-License-Identifier: Apache-2.0
// Which of an endpoint's calls wait for each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/instant.h"

namespace levee {

// Calls that take much longer than is usual, as polls and batches do, run all the time, so they are
// the fewest that ran at a time lately. Calls above this floor come and go. A value without
// clock; one thread; `now` never goes backward.
class CallFloor {
 public:
  // Whether the span is over in which the fewest calls are counted; then Begin starts the next.
  bool over(Instant now) const { return now >= until_; }
  // `latency_nanos`: the usual one.
  void Begin(double latency_nanos, Instant now) {
    before_ = least_;
    least_ = std::numeric_limits<int>::max();
    const double span = std::max(kLeastSpanNanos, kLatencies * latency_nanos);
    until_ = Instant::FromNanos(now.nanos() + static_cast<int64_t>(span));
  }

  // Now `active` calls run. Returns how many of them are above the floor.
  int Above(int active) {
    least_ = std::min(least_, active);
    return active - std::min(least_, before_);
  }

 private:
  static constexpr double kLeastSpanNanos = 100e6;
  static constexpr double kLatencies = 4;

  Instant until_;   // of the span that is counted
  int least_ = 0;   // in it
  int before_ = 0;  // in the span before
};

}  // namespace levee
