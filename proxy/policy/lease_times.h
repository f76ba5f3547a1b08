// SPDX-License-Identifier: Apache-2.0
// When a bucket whose permits are leased asks for more, and when it is idle.
#pragma once

#include "absl/time/time.h"

namespace levee {

// The part of a lease's permits that is left when the next ones are asked for.
inline constexpr double kAskAhead = 0.3;

// A bucket without calls for this long has nothing worth keeping.
inline constexpr absl::Duration kIdleAfter = absl::Seconds(1);

}  // namespace levee
