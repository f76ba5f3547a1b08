// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a slot: who goes next, and who goes away.
#pragma once

#include <cstdint>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "guard/guard_rank.h"
#include "guard/queue_pulse.h"
#include "policy/guard_policy.h"

namespace levee {

// A call that waits. Its owner leaves it where it is, and does not change it, while it is queued.
struct QueuedCall {
  GuardRank rank;
  // From here on it could not be answered before its deadline.
  Instant start_by = Instant::Infinite();

  // The queue's.
  Instant arrived;
  int64_t number = 0;
};

// The dearest call goes next. Among equals that is the first that came, as long as the queue is the
// buffer of a burst. In a queue that stands (QueuePulse) everybody would wait, and for nothing. So
// there the newest goes next, and calls have to go away that are too many to be served within
// `target`, or that have waited for that long. The least dear call is the first that has to go
// away: among equals the newest, and the oldest once the queue stands. (Maurer, "Fail at Scale",
// ACM Queue 13(8), 2015, puts FIFO, LIFO and CoDel together in this way.)
//
// While the service has stopped for a moment none has to go because of its number, unless `max`
// says so.
//
// Calls that are dearer than others are not the ones to go: they may wait as in a queue that does
// not stand. The call that goes next may wait on whatever it is, so that no slot stays empty.
//
// An object without clock; one thread. O(log n) for each call.
class GuardQueue {
 public:
  explicit GuardQueue(const QueuePolicy& policy) : policy_(policy), pulse_(policy.interval) {}

  // As QueuePulse::SetWork.
  void SetWork(absl::Duration work) { pulse_.SetWork(work); }

  // `call` waits from now on. `limit`: the slots that there are, at least 1. TakeRefused tells who
  // has to go away for it, and that may be this call.
  void Add(QueuedCall& call, int limit, Instant now);

  // Takes out the call that goes next; nullptr if none waits.
  QueuedCall* Take(Instant now);

  // Takes out a call that has to go away. To be asked until it returns nullptr, after each Add and
  // when NextDue says so.
  QueuedCall* TakeRefused(Instant now);

  // When TakeRefused is to be asked without an Add; Infinite: never.
  Instant NextDue() const;

  // The call does not wait any more.
  void Remove(QueuedCall& call);

  int size() const { return static_cast<int>(by_rank_.size()); }
  bool stands() const { return pulse_.stands(); }
  // Calls wait because the service has stopped for a moment (QueuePulse).
  bool stopped(Instant now) const { return size() > 0 && pulse_.stopped(now); }

  // Returns how long a call that came now would wait for a slot.
  absl::Duration ExpectedWait() const;

 private:
  struct ByRank {
    bool operator()(const QueuedCall* a, const QueuedCall* b) const {
      return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
    }
  };
  struct ByAge {
    bool operator()(const QueuedCall* a, const QueuedCall* b) const {
      return a->number < b->number;
    }
  };
  struct ByLastMoment {
    bool operator()(const QueuedCall* a, const QueuedCall* b) const {
      return a->start_by != b->start_by ? a->start_by < b->start_by : a->number < b->number;
    }
  };

  QueuedCall& Next() const;
  QueuedCall& Worst() const;
  QueuedCall* TooLate(Instant now) const;
  QueuedCall* TooMany(Instant now) const;
  void Look(Instant now);
  int Max() const;
  int MaxOfNew() const;
  double ServedIn(absl::Duration time) const;
  absl::Duration LongestWait(const QueuedCall& call) const;

  const QueuePolicy policy_;
  QueuePulse pulse_;
  int limit_ = 1;
  int64_t added_ = 0;
  absl::btree_set<QueuedCall*, ByRank> by_rank_;
  absl::btree_set<QueuedCall*, ByAge> by_age_;
  absl::btree_set<QueuedCall*, ByLastMoment> by_last_moment_;  // those that have one

  // As many may wait, where the queue is too long for its age, until they have become fewer.
  int tolerated_ = 0;
  int64_t before_standing_ = 0;  // the number of the first call that came to the standing queue
};

}  // namespace levee
