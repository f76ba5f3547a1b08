// SPDX-License-Identifier: Apache-2.0
// One delay's distribution, exactly: its law has as many equally likely values as steps, and each
// figure here is a sum over them in closed form.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "policy/backoff.h"

namespace levee {

class DelayDistribution {
 public:
  explicit DelayDistribution(const DelayLaw& law);

  absl::Duration Min() const { return Value(0); }
  absl::Duration Max() const { return Value(count_ - 1); }
  absl::Duration Mean() const;

  // Returns the least delay that a share of at least `p`, above 0, does not exceed.
  absl::Duration Quantile(double p) const;

  // Returns the share of delays that are at least `bound`.
  double ShareFrom(absl::Duration bound) const;

  // Returns by how much a delay is below `bound` on average, in nanoseconds; one above it is so by
  // 0.
  double MeanShortfall(absl::Duration bound) const;

  // The delays are multiples of this, above Min().
  absl::Duration tick() const { return absl::Nanoseconds(tick_); }

 private:
  // Returns the value that `k` steps make; `k` is below count_.
  absl::Duration Value(uint64_t k) const;
  // Returns how many of the values are below `bound`: the first ones.
  uint64_t CountBelow(absl::Duration bound) const;
  // Returns the sum of the first `n` values, all below most_, in nanoseconds.
  double SumOfFirst(uint64_t n) const;

  const int64_t least_;  // this and the next three in nanoseconds
  const int64_t step_;
  const int64_t tick_;
  const absl::Duration most_;
  const uint64_t count_;    // of values, at least 1
  const uint64_t unbound_;  // of these, the ones below most_
};

}  // namespace levee
