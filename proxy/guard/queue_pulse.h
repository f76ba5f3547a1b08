// SPDX-License-Identifier: Apache-2.0
// Whether a queue of calls is the buffer of a burst, or stands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "guard/guard_rank.h"

namespace levee {

// CoDel (Nichols and Jacobson, RFC 8289) tells good queues from bad ones by time: a good queue
// empties within an interval. This looks at a queue at the end of each half interval for as long as
// it is in use. A queue stands if it has not been empty for an interval, will not be soon, and its
// oldest call has waited for an interval or many calls had to be refused. It stands until few are
// refused and it has been empty.
//
// An object without clock; one thread.
class QueuePulse {
 public:
  // `interval`: above zero.
  explicit QueuePulse(absl::Duration interval) : half_(interval / 2) {}

  // These say that something has happened, each after Look.
  void OnAdded(GuardRank rank, Instant now);
  void OnTaken() { ++taken_; }
  void OnRefused() { ++refused_; }
  void OnEmpty() { emptied_ = true; }

  // Takes all looks that are due. `size`: of the queue; `oldest`: when its oldest call came,
  // Infinite if it is empty. Returns whether the queue has begun to stand.
  bool Look(Instant now, int size, Instant oldest);
  // When the next look is due; Infinite: the queue is not in use.
  Instant next() const { return next_; }

  bool stands() const { return stands_; }
  // The queue has not been empty for half an interval or longer.
  bool lasts() const { return looks_ > 0; }
  // It has not been empty for an interval or longer.
  bool lasts_long() const { return looks_ > 1; }
  // The slots that become free in a second while calls wait; 0: unknown.
  double per_second() const { return per_second_; }
  // The least dear call of the last half interval or longer.
  GuardRank least_dear() const { return std::max(least_dear_, least_dear_before_); }

 private:
  void LookOnce(int size, Instant oldest);
  void MeasureRate();
  void Rest();

  const absl::Duration half_;
  bool stands_ = false;
  Instant next_ = Instant::Infinite();
  int looks_ = 0;  // since the queue was empty
  double refused_share_ = 0;
  double per_second_ = 0;

  // Since the last look.
  bool emptied_ = false;
  int64_t added_ = 0;
  int64_t refused_ = 0;
  int size_before_ = 0;  // at the last look
  GuardRank least_dear_;
  GuardRank least_dear_before_;  // between the last two looks

  // Since the rate was measured.
  int64_t taken_ = 0;
  absl::Duration measured_;  // in which the queue was never empty
};

}  // namespace levee
