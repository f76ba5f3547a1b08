// SPDX-License-Identifier: Apache-2.0
// The moments that the calls of several tests of this folder begin and end at.
#pragma once

#include <cstdint>

#include "base/instant.h"

namespace levee {

inline constexpr int64_t kMs = 1'000'000;  // in nanoseconds

inline Instant At(int64_t ms) { return Instant::FromNanos(ms * kMs); }

}  // namespace levee
