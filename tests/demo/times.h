// SPDX-License-Identifier: Apache-2.0
// The demo's tests count time in milliseconds.
#pragma once

#include <cstdint>

#include "base/instant.h"

namespace levee::demo {

inline constexpr int64_t kMillisecond = 1'000'000;

inline Instant At(int64_t ms) { return Instant::FromNanos(ms * kMillisecond); }

}  // namespace levee::demo
