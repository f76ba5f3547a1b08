// SPDX-License-Identifier: Apache-2.0
// Bounds how often a peer may do something.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"

namespace levee {

// A token bucket. In any span of t seconds, wherever it begins and whatever came before it, Take
// succeeds at most
//
//   burst + per_second x t + (the sum of GiveBack's counts within the span)
//
// times, so at most `burst` times at once after any quiet time. Take refuses an event only if it
// would break this bound. The arithmetic is in integers, so nothing is lost or gained by rounding.
// Takes 40 bytes. One thread.
class RateGuard {
 public:
  // `per_second` must be at least 1. The bucket begins full.
  RateGuard(uint32_t per_second, uint32_t burst)
      : per_second_(per_second),
        capacity_(burst * kToken),
        fill_nanos_(capacity_ / per_second_ + 1),
        level_(capacity_) {}

  // Counts one event at `now`, which must not go back between calls. False: the peer has reached
  // the bound, and the event is not counted.
  bool Take(Instant now) {
    Refill(now);
    if (level_ < kToken) return false;
    level_ -= kToken;
    return true;
  }

  // Allows `count` further events, but never more than `burst` at once.
  void GiveBack(uint32_t count) { level_ = std::min(level_ + count * kToken, capacity_); }

 private:
  // The level of the bucket is counted in billionths of an event, so that per_second_ is also the
  // number that is added each nanosecond. Twice the largest `burst` fits in 63 bits.
  static constexpr int64_t kToken = 1'000'000'000;

  void Refill(Instant now) {
    const int64_t nanos = now.nanos() - filled_at_.nanos();
    filled_at_ = now;
    level_ = nanos < fill_nanos_ ? std::min(level_ + nanos * per_second_, capacity_) : capacity_;
  }

  int64_t per_second_;
  int64_t capacity_;
  int64_t fill_nanos_;  // an empty bucket is full after at most so long
  int64_t level_;
  Instant filled_at_;
};

}  // namespace levee
