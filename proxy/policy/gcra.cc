// SPDX-License-Identifier: Apache-2.0
#include "policy/gcra.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/numeric/int128.h"
#include "base/check.h"

namespace levee {
namespace {

constexpr double kHorizonSeconds = 30 * 365.25 * 86'400;
constexpr double kMaxPerSecond = 1e9;
constexpr int kFactorBits = 53;

}  // namespace

GcraRate::GcraRate(double per_second, int burst) {
  LEVEE_CHECK(per_second > 0 && burst >= 1);
  per_second = std::clamp(per_second, 1 / kHorizonSeconds, kMaxPerSecond);
  // The largest position plus the burst and one permit stays below 2^62, so that no sum of a
  // position and a burst overflows.
  const int fraction_bits = 61 - std::ilogb(per_second * kHorizonSeconds + burst + 2.0);
  permit_ = int64_t{1} << fraction_bits;
  burst_ = burst * permit_;
  // The factor is rounded up a little: the instant at which a permit of 10 per second is due, a
  // tenth of a second, must not become a nanosecond more.
  int exponent;
  const double fraction =
      std::frexp(per_second / 1e9 * (1 + 2 * std::numeric_limits<double>::epsilon()), &exponent);
  factor_ = static_cast<uint64_t>(std::ldexp(fraction, kFactorBits));
  shift_ = kFactorBits - exponent - fraction_bits;
}

int64_t GcraRate::At(Instant t) const {
  const auto nanos = static_cast<uint64_t>(std::max<int64_t>(t.nanos(), 0));
  const absl::uint128 position = absl::uint128(nanos) * factor_ >> shift_;
  return static_cast<int64_t>(std::min<absl::uint128>(position, kEnd));
}

Instant GcraRate::Reached(int64_t position) const {
  const absl::uint128 target(position);
  if (target > absl::Uint128Max() >> shift_) return Instant::Infinite();
  const absl::uint128 nanos = ((target << shift_) + (factor_ - 1)) / factor_;
  return Instant::FromNanos(
      static_cast<int64_t>(std::min<absl::uint128>(nanos, std::numeric_limits<int64_t>::max())));
}

RatePermit Gcra::Decide(const GcraRate& rate, int64_t arrival, Instant now,
                        absl::Duration max_wait) {
  const int64_t position = rate.At(now);
  const int64_t next = std::max(arrival, position) + rate.permit();
  const int64_t due = next - rate.burst();
  RatePermit permit;
  permit.mark = next;
  if (due > position) permit.wait = rate.Reached(due) - now;
  permit.granted = permit.wait <= max_wait && due <= GcraRate::kEnd;
  return permit;
}

RatePermit Gcra::Take(const GcraRate& rate, Instant now, absl::Duration max_wait) {
  int64_t arrival = arrival_.load(std::memory_order_relaxed);
  for (;;) {
    const RatePermit permit = Decide(rate, arrival, now, max_wait);
    if (!permit.granted ||
        arrival_.compare_exchange_weak(arrival, permit.mark, std::memory_order_relaxed)) {
      return permit;
    }
  }
}

RatePermit Gcra::Check(const GcraRate& rate, Instant now, absl::Duration max_wait) const {
  return Decide(rate, arrival_.load(std::memory_order_relaxed), now, max_wait);
}

void Gcra::Return(const GcraRate& rate, const RatePermit& permit) {
  int64_t expected = permit.mark;
  arrival_.compare_exchange_strong(expected, permit.mark - rate.permit(),
                                   std::memory_order_relaxed);
}

bool Gcra::IdleAt(const GcraRate& rate, Instant now) const {
  return arrival_.load(std::memory_order_relaxed) <= rate.At(now);
}

}  // namespace levee
