// SPDX-License-Identifier: Apache-2.0
// What time leaves of something that fades.
#pragma once

#include <cmath>

namespace levee {

// Returns exp(-spans), exact to a part in a thousand million; `spans` is not negative. Each call
// asks several times, mostly when little has faded, and std::exp takes four times as long.
inline double LeftAfter(double spans) {
  if (spans > 1) return std::exp(-spans);
  const double x = spans / -8;
  const double eighth =
      1 + x * (1 + x * (1. / 2 + x * (1. / 6 + x * (1. / 24 + x * (1. / 120 + x * (1. / 720))))));
  const double quarter = eighth * eighth;
  const double half = quarter * quarter;
  return half * half;
}

}  // namespace levee
