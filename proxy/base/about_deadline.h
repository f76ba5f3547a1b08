// SPDX-License-Identifier: Apache-2.0
// When the end of a call means that its time is over.
#pragma once

#include <algorithm>

#include "base/instant.h"

namespace levee {

// Whether a call that began at `start` ends at `now` because of its deadline, whichever side spoke
// first. The clocks of callers, of upstreams and of this process agree to within a few
// milliseconds. gRPC's core: a call is CANCELLED only if its deadline has not been exceeded.
inline bool IsAboutDeadline(Instant now, Instant start, Instant deadline) {
  constexpr absl::Duration kTolerance = absl::Milliseconds(5);
  if (deadline.is_infinite()) return false;
  return now >= deadline - std::min(kTolerance, (deadline - start) / 5);
}

}  // namespace levee
