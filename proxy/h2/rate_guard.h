// A bound on how often a peer may do something.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/instant.h"

namespace levee::h2 {

// A token bucket: `per_second`, and after a quiet time up to twice `burst` at once. One thread.
class RateGuard {
 public:
  RateGuard(uint32_t per_second, uint32_t burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // False: that is more than is allowed.
  bool Take(Instant now) {
    if (filled_at_ == Instant()) filled_at_ = now;
    if (tokens_ < 1) Refill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  void GiveBack(int count) { tokens_ = std::min(tokens_ + count, burst_); }

 private:
  // Only when the bucket is empty, so that the ordinary case reads no time.
  void Refill(Instant now) {
    const double seconds = static_cast<double>(now.nanos() - filled_at_.nanos()) / 1e9;
    tokens_ = std::min(tokens_ + seconds * per_second_, burst_);
    filled_at_ = now;
  }

  double per_second_;
  double burst_;
  double tokens_;
  Instant filled_at_;
};

}  // namespace levee::h2
