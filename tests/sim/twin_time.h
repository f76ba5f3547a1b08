// SPDX-License-Identifier: Apache-2.0
// Both hosts begin a case at the same instant.
#pragma once

#include "absl/time/time.h"

namespace levee {

// From the start of virtual time (SimClock::Start, VirtualTime::Restart) to a tick of the network's
// timers, which count whole milliseconds.
inline constexpr absl::Duration kToWholeMillisecond = absl::Nanoseconds(567'899);

}  // namespace levee
