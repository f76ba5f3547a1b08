// SPDX-License-Identifier: Apache-2.0
// Several tests of this folder name these moments and spans of time.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

inline constexpr absl::Duration kNoWait = absl::ZeroDuration();
inline constexpr absl::Duration kForever = absl::InfiniteDuration();
inline constexpr absl::Duration kYear = absl::Hours(8760);
inline constexpr absl::Duration kMs = absl::Milliseconds(1);

inline absl::Duration Ms(int64_t milliseconds) { return absl::Milliseconds(milliseconds); }
inline absl::Duration S(double seconds) { return absl::Seconds(seconds); }

// The moment is so long after the beginning of the clock.
inline Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

}  // namespace levee
