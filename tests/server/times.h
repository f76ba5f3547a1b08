// SPDX-License-Identifier: Apache-2.0
// Tests count seconds from the beginning of the clock.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

inline Instant At(double seconds) { return Instant() + absl::Seconds(seconds); }

}  // namespace levee
