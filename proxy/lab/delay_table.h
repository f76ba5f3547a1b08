// SPDX-License-Identifier: Apache-2.0
// The table of the delays that a backoff makes.
#pragma once

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "policy/backoff.h"

namespace levee {

// The delay before one retry.
struct DelayRow {
  int n = 1;                              // the retry, from 1
  std::optional<absl::Duration> nominal;  // before jitter; none of a decorrelated delay
  std::optional<double> mean_slots;  // of slots, without the rounding to the timer's millisecond
  absl::Duration min;
  absl::Duration max;
  absl::Duration mean;
  absl::Duration p50;
  absl::Duration p99;
  absl::Duration total_max;  // of this delay and all before it
  absl::Duration total_p99;
  double past_deadline = 0;  // the share of draws whose total reaches the deadline
  double past_elapsed = 0;   // and the share that is above the policy's max_elapsed
};

struct DelayTable {
  std::vector<DelayRow> rows;
  int draws = 0;  // by which the figures were found; 0: they are exact
};

// Returns the rows of the retries 1 to `retries`, each after `retries` failures in a row and
// without advice of a server. `deadline`: time that a call has, or infinite; attempts are taken to
// need none.
//
// The figures of one delay are exact, and so are means of sums; percentiles of sums are off by at
// most 1 part in 1000. Delays that depend on the one before (Jitter::kDecorrelated) have no closed
// form: they are drawn from the product's own Backoff.
DelayTable TabulateDelays(const BackoffPolicy& policy, int retries, absl::Duration deadline);

}  // namespace levee
