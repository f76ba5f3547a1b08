// SPDX-License-Identifier: Apache-2.0
#include "policy/kolmogorov_smirnov.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace levee {

Distribution Uniform(absl::Duration low, absl::Duration high, absl::Duration cap) {
  return [=](absl::Duration x) {
    return x >= cap ? 1.0 : std::clamp(absl::FDivDuration(x - low, high - low), 0.0, 1.0);
  };
}

double Distance(std::vector<absl::Duration> draws, const Distribution& distribution) {
  std::sort(draws.begin(), draws.end());
  const double count = static_cast<double>(draws.size());
  double distance = 0;
  for (size_t first = 0; first < draws.size();) {
    size_t end = first;
    while (end < draws.size() && draws[end] == draws[first]) ++end;
    const double at = distribution(draws[first]);
    const double below = distribution(draws[first] - absl::Nanoseconds(1));
    distance = std::max(distance, std::abs(static_cast<double>(end) / count - at));
    distance = std::max(distance, std::abs(static_cast<double>(first) / count - below));
    first = end;
  }
  return distance;
}

std::vector<absl::Duration> NthDelays(const BackoffPolicy& policy, int n, uint64_t seed) {
  Random random(seed);
  std::vector<absl::Duration> draws;
  for (int i = 0; i < kDraws; ++i) {
    Backoff backoff;
    for (int k = 1; k < n; ++k) backoff.Next(policy, random);
    draws.push_back(backoff.Next(policy, random));
  }
  return draws;
}

void ExpectNth(const BackoffPolicy& policy, int n, const Distribution& distribution) {
  const uint64_t seed = 1000 + n;
  EXPECT_LT(Distance(NthDelays(policy, n, seed), distribution), kCriticalDistance)
      << "retry " << n << ", seed " << seed;
}

}  // namespace levee
