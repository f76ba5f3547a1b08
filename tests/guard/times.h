// SPDX-License-Identifier: Apache-2.0
// The tests of the guard begin at the same moment.
#pragma once

#include "base/instant.h"

namespace levee {

inline constexpr Instant kStart = Instant::FromNanos(1'000'000'000);

}  // namespace levee
