// SPDX-License-Identifier: Apache-2.0
// How often events of one kind are written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// Lets `at_once` events pass in a row, and after that one for each `spacing`. It is a bucket of
// `at_once` tokens that gains one token for each `spacing`. Keeps the count of the events that were
// held back. A value without a clock; one thread at a time.
class EventLimiter {
 public:
  EventLimiter(int at_once, absl::Duration spacing)
      : spacing_(spacing), burst_(spacing * (at_once - 1)) {}

  // Whether an event at `now` may be written; takes a token if so.
  bool Admit(Instant now) {
    const Instant at = std::max(next_, now - burst_);
    if (at > now) return false;
    next_ = at + spacing_;
    return true;
  }

  // One more event was held back.
  void Suppress() { ++suppressed_; }

  // How many are held back since this was asked the last time.
  uint64_t TakeSuppressed() { return std::exchange(suppressed_, 0); }

 private:
  absl::Duration spacing_;
  absl::Duration burst_;
  // When the next event would be due if all came at even distances.
  Instant next_ = Instant::FromNanos(std::numeric_limits<int64_t>::min());
  uint64_t suppressed_ = 0;
};

}  // namespace levee
