// SPDX-License-Identifier: Apache-2.0
// How dear a call is to a service that cannot serve all.
#pragma once

#include <compare>
#include <cstdint>

namespace levee {

// The order in which calls are refused, from the greatest rank on: retries before first attempts,
// then by priority, then by user.
class GuardRank {
 public:
  constexpr GuardRank() = default;  // the dearest there is

  // `priority`: 0, the dearest, to kLeastPriority. `user`: a hash of the user; calls of one user
  // pass or fail together, so that tasks of several calls are finished or not begun.
  constexpr GuardRank(bool retry, int priority, uint64_t user)
      : value_(uint64_t{retry} << 63 | static_cast<uint64_t>(priority) << 56 | user >> 8) {}

  constexpr auto operator<=>(const GuardRank&) const = default;

 private:
  uint64_t value_ = 0;
};

}  // namespace levee
