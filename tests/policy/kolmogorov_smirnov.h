// SPDX-License-Identifier: Apache-2.0
// Compares delays that were drawn with the distribution they should have.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/backoff.h"

namespace levee {

// The share of delays that are at most `x`. A step at a point is an atom.
using Distribution = std::function<double(absl::Duration x)>;

// Linear from `low` to `high`; what would lie above `cap` is at `cap`.
Distribution Uniform(absl::Duration low, absl::Duration high,
                     absl::Duration cap = absl::InfiniteDuration());

// sup |F_n - F|, the statistic of Kolmogorov and Smirnov, also where F has atoms: each value that
// was drawn is compared at itself and just below. `draws` are whole nanoseconds.
double Distance(std::vector<absl::Duration> draws, const Distribution& distribution);

inline constexpr int kDraws = 10'000;
// The distance that kDraws draws of a continuous distribution exceed in one of 10^4 runs:
// sqrt(-ln(p / 2) / 2) / sqrt(draws). They exceed it more seldom if it has atoms.
inline constexpr double kCriticalDistance = 0.02225;

// kDraws delays, each of a call of its own: its n-th.
std::vector<absl::Duration> NthDelays(const BackoffPolicy& policy, int n, uint64_t seed);

// Fails the test that calls it unless n-th delays are distributed like that.
void ExpectNth(const BackoffPolicy& policy, int n, const Distribution& distribution);

}  // namespace levee
