// SPDX-License-Identifier: Apache-2.0
// A histogram over fixed bounds, cheap enough for every call.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "telemetry/cells.h"

namespace levee {

// Bounds are written in microseconds and compared in nanoseconds, as Instants count them.
template <size_t kSize>
constexpr std::array<int64_t, kSize> FromMicros(std::array<int64_t, kSize> micros) {
  for (int64_t& bound : micros) bound *= 1000;
  return micros;
}

// 1 ms to 10 s, in the steps that Prometheus users know.
inline constexpr auto kDurationBounds =
    FromMicros<12>({1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000,
                    1'000'000, 2'500'000, 10'000'000});

// The bounds above and two more, for waits between attempts: a server's advice may make them as
// long as a minute.
inline constexpr auto kDelayBounds =
    FromMicros<14>({1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000,
                    1'000'000, 2'500'000, 10'000'000, 30'000'000, 60'000'000});

// The bounds for the number of attempts of one call.
inline constexpr std::array<int64_t, 6> kAttemptBounds = {1, 2, 3, 4, 5, 10};

// The bounds for the number of attempts of one call after the first, for each kind of attempt.
inline constexpr std::array<int64_t, 5> kFurtherBounds = {1, 2, 3, 4, 5};

// Counts each value in the bucket of the first bound that is not below the value, and adds the
// values up. `kBounds` are positive and ascending. One writer, any reader, like Counter.
template <const auto& kBounds>
class Histogram {
 public:
  static constexpr size_t kBuckets = kBounds.size() + 1;  // the last one has no bound

  // A negative value counts as 0.
  void Observe(int64_t value) {
    value = std::max<int64_t>(value, 0);
    buckets_[BucketOf(value)].Add(1);
    sum_.Add(static_cast<uint64_t>(value));
  }

  // Returns the bucket of a value, which must be 0 or more.
  static constexpr size_t BucketOf(int64_t value) {
    // The position of the highest bit decides nearly everything. Two bounds seldom have the same
    // highest bit, so the loop ends after at most two comparisons.
    size_t bucket = kFirst[std::bit_width(static_cast<uint64_t>(value))];
    while (value > kGuardedBounds[bucket]) ++bucket;
    return bucket;
  }

  // Returns the largest value that bucket `bucket` counts; infinity for the last one.
  static constexpr double Bound(size_t bucket) {
    return bucket < kBounds.size() ? static_cast<double>(kBounds[bucket])
                                   : std::numeric_limits<double>::infinity();
  }

  // Returns how many values were above bound `bucket` - 1 and not above bound `bucket`.
  uint64_t Read(size_t bucket) const { return buckets_[bucket].Read(); }
  uint64_t ReadSum() const { return sum_.Read(); }

  void Reset() {
    for (Counter& bucket : buckets_) bucket.Reset();
    sum_.Reset();
  }

 private:
  // The bounds and one that no value exceeds, so that the search ends without counting.
  static constexpr auto kGuardedBounds = [] {
    std::array<int64_t, kBuckets> bounds{};
    std::copy(kBounds.begin(), kBounds.end(), bounds.begin());
    bounds.back() = std::numeric_limits<int64_t>::max();
    return bounds;
  }();

  // Element n: how many bounds are below every value of n bits.
  static constexpr auto kFirst = [] {
    std::array<uint8_t, 64> first{};
    for (size_t bits = 1; bits < first.size(); ++bits) {
      const int64_t least = int64_t{1} << (bits - 1);
      while (first[bits] < kBounds.size() && kBounds[first[bits]] < least) ++first[bits];
    }
    return first;
  }();

  std::array<Counter, kBuckets> buckets_;
  Counter sum_;
};

}  // namespace levee
