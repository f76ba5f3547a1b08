// SPDX-License-Identifier: Apache-2.0
// The arrivals of calls that nothing paces: a Poisson process.
#pragma once

#include <cmath>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"

namespace levee::demo {

// The same seed gives the same arrivals, so both runs of the demo get the same load.
class Arrivals {
 public:
  Arrivals(double per_second, Instant start, uint64_t seed)
      : mean_gap_(absl::Seconds(1) / per_second), random_(seed), next_(start) {
    Advance();
  }

  Instant next() const { return next_; }

  // Holds from the call after the next one on.
  void SetRate(double per_second) { mean_gap_ = absl::Seconds(1) / per_second; }

  // Returns how many calls came until `now`. After a stall of the process only some of the missed
  // calls are made up for: a burst of all of them would be a load of its own.
  int TakeDue(Instant now) {
    constexpr absl::Duration kLatest = absl::Milliseconds(100);
    int due = 0;
    for (; next_ <= now; Advance()) {
      if (next_ + kLatest >= now) ++due;
    }
    return due;
  }

 private:
  void Advance() { next_ = next_ + mean_gap_ * -std::log1p(-random_.Uniform()); }

  absl::Duration mean_gap_;
  Random random_;
  Instant next_;
};

}  // namespace levee::demo
