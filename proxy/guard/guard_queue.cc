// SPDX-License-Identifier: Apache-2.0
#include "guard/guard_queue.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace levee {
namespace {

// As many times the limit may wait in a new queue (QueuePolicy::kAuto), and in one that lasts.
constexpr int kOfNewQueue = 8;
constexpr double kOfLastingQueue = 1.5;
// A queue that begins to last may become so many times as long: it may be that of a burst which has
// just ended, and the calls that come then are no burst.
constexpr int kOfBurst = 2;
// A call that waits too long is refused when it has waited for this share of `target`, so that its
// answer is out in time.
constexpr double kOfTarget = 0.9;
// As many may wait in a queue that stands, so that no slot stays empty for want of a call.
constexpr double kFewest = 2;

}  // namespace

void GuardQueue::Add(QueuedCall& call, int limit, Instant now) {
  limit_ = limit;
  Look(now);
  pulse_.OnAdded(call.rank, now);
  call.arrived = now;
  call.number = added_++;
  by_rank_.insert(&call);
  by_age_.insert(&call);
  if (!call.start_by.is_infinite()) by_last_moment_.insert(&call);
}

void GuardQueue::Remove(QueuedCall& call) {
  by_rank_.erase(&call);
  by_age_.erase(&call);
  by_last_moment_.erase(&call);
  // In the first half interval a queue that shrinks may still take the calls that come meanwhile.
  if (!pulse_.lasts() || pulse_.lasts_long()) tolerated_ = std::min(tolerated_, size());
  if (by_rank_.empty()) pulse_.OnEmpty();
}

QueuedCall& GuardQueue::Next() const {
  if (!stands()) return **by_rank_.begin();
  QueuedCall after_equals = **by_rank_.begin();
  after_equals.number = added_;
  return **std::prev(by_rank_.lower_bound(&after_equals));
}

QueuedCall& GuardQueue::Worst() const {
  if (!stands()) return **by_rank_.rbegin();
  QueuedCall before_equals = **by_rank_.rbegin();
  before_equals.number = 0;
  return **by_rank_.lower_bound(&before_equals);
}

QueuedCall* GuardQueue::Take(Instant now) {
  Look(now);
  if (by_rank_.empty()) return nullptr;
  QueuedCall& call = Next();
  Remove(call);
  pulse_.OnTaken(now);
  return &call;
}

QueuedCall* GuardQueue::TakeRefused(Instant now) {
  Look(now);
  if (by_rank_.empty()) return nullptr;
  QueuedCall* call = TooLate(now);
  if (call == nullptr) call = TooMany(now);
  if (call == nullptr) return nullptr;
  Remove(*call);
  pulse_.OnRefused();
  return call;
}

QueuedCall* GuardQueue::TooLate(Instant now) const {
  if (!by_last_moment_.empty()) {
    QueuedCall* const first = *by_last_moment_.begin();
    if (first->start_by <= now) return first;
  }
  if (!stands() || size() < 2) return nullptr;
  QueuedCall& worst = Worst();
  return worst.arrived + LongestWait(worst) <= now ? &worst : nullptr;
}

QueuedCall* GuardQueue::TooMany(Instant now) const {
  if (policy_.max == QueuePolicy::kAuto && pulse_.excused(now)) return nullptr;
  if (size() > std::max(Max(), tolerated_)) return &Worst();
  if (!stands() || pulse_.per_second() == 0) return nullptr;
  const double served = std::max(kFewest, std::ceil(ServedIn(policy_.target)));
  if (size() <= std::max(static_cast<int>(served), tolerated_)) return nullptr;
  QueuedCall& worst = Worst();
  return worst.rank < pulse_.least_dear() ? nullptr : &worst;
}

int GuardQueue::Max() const {
  if (!pulse_.lasts() && !stands()) return MaxOfNew();
  return std::min(MaxOfNew(), static_cast<int>(std::ceil(kOfLastingQueue * limit_)));
}

int GuardQueue::MaxOfNew() const {
  return policy_.max == QueuePolicy::kAuto ? kOfNewQueue * limit_ : policy_.max;
}

double GuardQueue::ServedIn(absl::Duration time) const {
  return pulse_.per_second() * absl::ToDoubleSeconds(time);
}

// How long a call may wait in a queue that stands; longer if it came before, or is dear.
absl::Duration GuardQueue::LongestWait(const QueuedCall& call) const {
  if (pulse_.per_second() == 0) return pulse_.interval();
  const bool longer = call.number < before_standing_ || call.rank < pulse_.least_dear();
  const double calls = longer ? kOfLastingQueue * limit_ : kFewest;
  return std::clamp(absl::Seconds(calls / pulse_.per_second()),
                    std::min(kOfTarget * policy_.target, pulse_.interval()), pulse_.interval());
}

Instant GuardQueue::NextDue() const {
  if (by_rank_.empty()) return Instant::Infinite();
  Instant due = pulse_.next();
  if (!by_last_moment_.empty()) due = std::min(due, (*by_last_moment_.begin())->start_by);
  if (stands() && size() > 1) due = std::min(due, Worst().arrived + LongestWait(Worst()));
  return due;
}

void GuardQueue::Look(Instant now) {
  const Instant oldest = by_age_.empty() ? Instant::Infinite() : (*by_age_.begin())->arrived;
  const bool lasted = pulse_.lasts();
  const bool began = pulse_.Look(now, size(), oldest);
  if (began) {
    before_standing_ = added_;
    tolerated_ = size();
  } else if (!lasted && pulse_.lasts()) {
    tolerated_ = std::min(kOfBurst * size(), MaxOfNew());
  }
}

absl::Duration GuardQueue::ExpectedWait() const {
  if (pulse_.per_second() == 0) return policy_.target;
  return absl::Seconds((size() + 1) / pulse_.per_second());
}

}  // namespace levee
