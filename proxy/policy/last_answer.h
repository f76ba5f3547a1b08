// SPDX-License-Identifier: Apache-2.0
// When a call that waits has to be answered.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// The time at which a wait that begins `now` ends for the sake of the call's deadline: the caller,
// whose clock is another one, still gets the answer that says why. `expected`: how long half of the
// attempts take at least, which would hardly end later; zero: unknown. Before the deadline by whole
// milliseconds, which is what timers count.
inline Instant LastAnswer(Instant deadline, absl::Duration expected, Instant now) {
  constexpr absl::Duration kLeast = absl::Milliseconds(10);
  constexpr double kShare = 0.05;
  if (deadline.is_infinite()) return deadline;
  const absl::Duration before = std::max({kLeast, (deadline - now) * kShare, expected});
  return deadline - absl::Ceil(before, absl::Milliseconds(1));
}

}  // namespace levee
