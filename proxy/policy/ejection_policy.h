// SPDX-License-Identifier: Apache-2.0
// When an endpoint is ejected.
#pragma once

#include "absl/time/time.h"

namespace levee {

struct EjectionPolicy {
  // An endpoint is judged once it has failed so often in a row, at least 1, or once so many of its
  // attempts are known, at least 1.
  int failures = 5;
  int64_t attempts = 20;
  // It is ejected where its share of successes is below this part of the best other one's, 0 to 1.
  // 0: only the row counts, where it is below the default part.
  double success = 0.8;
  // Of an endpoint that answers nothing: the pause before the first look at it, and the longest.
  // Both are above zero.
  absl::Duration base = absl::Seconds(30);
  absl::Duration max = absl::Seconds(300);
  friend bool operator==(const EjectionPolicy&, const EjectionPolicy&) = default;
};

}  // namespace levee
