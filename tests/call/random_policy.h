// SPDX-License-Identifier: Apache-2.0
// Policies drawn at random, or from a fuzzer's bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "absl/time/time.h"
#include "policy/retry_policy.h"

namespace levee {

// Where the draws come from.
struct Draws {
  std::function<uint64_t(uint64_t bound)> below;  // in [0, bound); `bound` > 0
  std::function<double()> uniform;                // in [0, 1)

  bool Chance(double share) const { return uniform() < share; }
  template <typename T>
  T OneOf(std::initializer_list<T> values) const {
    return values.begin()[below(values.size())];
  }
  // In microseconds.
  absl::Duration UpTo(int64_t ms) const {
    return absl::Microseconds(below(static_cast<uint64_t>(ms) * 1000 + 1));
  }
};

// Anything that a configuration may say of calls, hedging and rate limits included; spans are short
// enough for a run to meet their ends.
CallPolicy RandomPolicy(const Draws& draws);

// How long an answer to a question takes: none at all, a while, or for ever.
absl::Duration RandomDelay(const Draws& draws);

}  // namespace levee
