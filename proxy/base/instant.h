// SPDX-License-Identifier: Apache-2.0
// A point on the monotonic clock, as a value. Only net/ reads the clock; everybody else is handed
// `now`, so that the same objects run in production and on virtual time.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace levee {

// Nanoseconds since an arbitrary epoch (of one process or one simulation). Wall-clock times are
// not Instants: they jump. Infinite() is later than every other Instant and stays so under
// addition of any span; arithmetic saturates instead of overflowing.
class Instant {
 public:
  constexpr Instant() = default;

  static constexpr Instant FromNanos(int64_t nanos) { return Instant(nanos); }
  static constexpr Instant Infinite() { return Instant(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t nanos() const { return nanos_; }
  constexpr bool is_infinite() const { return *this == Infinite(); }

  // absl::InfiniteDuration() yields Infinite().
  friend Instant operator+(Instant t, absl::Duration d) {
    if (t.is_infinite() || d == absl::InfiniteDuration()) return Infinite();
    // ToInt64Nanoseconds saturates at +-(2^63-1), so only the sum can overflow.
    int64_t sum;
    if (__builtin_add_overflow(t.nanos_, absl::ToInt64Nanoseconds(d), &sum)) {
      return d > absl::ZeroDuration() ? Infinite() : Instant(std::numeric_limits<int64_t>::min());
    }
    return Instant(sum);
  }
  friend Instant operator-(Instant t, absl::Duration d) { return t + -d; }

  // Infinite minus anything finite is absl::InfiniteDuration().
  friend absl::Duration operator-(Instant a, Instant b) {
    if (a.is_infinite()) return absl::InfiniteDuration();
    int64_t nanos;
    if (!__builtin_sub_overflow(a.nanos_, b.nanos_, &nanos)) return absl::Nanoseconds(nanos);
    return absl::Nanoseconds(a.nanos_) - absl::Nanoseconds(b.nanos_);
  }

  friend constexpr auto operator<=>(Instant, Instant) = default;

 private:
  explicit constexpr Instant(int64_t nanos) : nanos_(nanos) {}

  int64_t nanos_ = 0;
};

}  // namespace levee
