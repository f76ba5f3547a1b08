// SPDX-License-Identifier: Apache-2.0
// How much more than an even share of the calls the endpoints that are not ejected can take.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// They get more and more while their answers take less than twice as long as before, and less as
// soon as these take longer. A value without clock; one thread; `now` never goes backward.
class SpareRoom {
 public:
  // An endpoint that is not ejected answered, or was given up, after `latency`. `ejected`: whether
  // others are; `usable`: the number of all.
  void Record(absl::Duration latency, bool ejected, int usable, Instant now);

  // Returns the share of the ejected ones' even share that `good` endpoints have room for, where
  // `ejected` are ejected, above 0. 0 to 1.
  double For(int good, int ejected) const;

 private:
  void Adjust(int usable, Instant now);

  double room_ = 1;  // of an even share
  Instant set_at_;
  double usual_ = 0;   // the latency while none was ejected, in nanoseconds
  int usual_of_ = 0;   // answers, as far as that matters
  double recent_ = 0;  // the latency of late
};

}  // namespace levee
