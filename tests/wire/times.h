// SPDX-License-Identifier: Apache-2.0
// The moments at which the bytes of a connection come, in several tests of this folder.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// So long after the beginning of the clock.
inline Instant At(int64_t ms) { return Instant() + absl::Milliseconds(ms); }

}  // namespace levee
