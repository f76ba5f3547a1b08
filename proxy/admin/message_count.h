// SPDX-License-Identifier: Apache-2.0
// Counts as messages have them, in 32 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace levee {

// At most the largest number.
inline uint32_t Count(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
}

// And at least 0.
inline uint32_t Count(int64_t count) {
  return Count(static_cast<uint64_t>(std::max<int64_t>(count, 0)));
}

}  // namespace levee
