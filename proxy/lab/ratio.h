// SPDX-License-Identifier: Apache-2.0
// Gives the share of a part in a whole that may be empty.
#pragma once

#include <cstdint>

namespace levee {

// Returns 0 if the whole is 0.
inline double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace levee
