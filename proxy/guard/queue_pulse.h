// SPDX-License-Identifier: Apache-2.0
// Whether a queue of calls is the buffer of a burst, or stands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

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
// What RFC 8289 says of round-trip times is said here of the service: an interval is at least as
// long as five calls, each weighed with its own length, and so hold slots; up to a second. Else the
// queue that a few long calls make for a moment would be one that stands.
//
// A service that stops for a moment, as for a garbage collection, makes a queue of all who come
// meanwhile. Such a queue is no sign of too many calls: it is excused while no call ends, up to
// half a second, and then for as long again and an interval, until it has been served.
//
// An object without clock; one thread.
class QueuePulse {
 public:
  // `interval`: above zero.
  explicit QueuePulse(absl::Duration interval) : least_interval_(interval), half_(interval / 2) {}

  // Calls hold slots for `work`: their mean, each weighed with its own length.
  void SetWork(absl::Duration work);

  // These say that something has happened, each after Look.
  void OnAdded(GuardRank rank, Instant now);
  void OnTaken(Instant now) {
    ++taken_;
    last_taken_ = now;
  }
  void OnRefused() { ++refused_; }
  void OnEmpty() { emptied_ = true; }

  // Takes all looks that are due. `size`: of the queue; `oldest`: when its oldest call came,
  // Infinite if it is empty. Returns whether the queue has begun to stand.
  bool Look(Instant now, int size, Instant oldest);
  // When the next look is due; Infinite: the queue is not in use.
  Instant next() const { return next_; }

  absl::Duration interval() const { return 2 * half_; }
  bool stands() const { return stands_; }
  // The service has stopped, or what its stop has left is still to be served. While nothing is
  // known of its work each pause is a stop.
  bool excused(Instant now) const;
  // The same of a service whose work is known.
  bool stopped(Instant now) const { return work_.has_value() && excused(now); }
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
  bool IsStop(absl::Duration pause) const;
  void MeasureRate();
  void Rest();

  const absl::Duration least_interval_;
  absl::Duration half_;
  std::optional<absl::Duration> work_;
  Instant last_taken_;  // or when the queue came into use
  Instant excused_until_;
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
