// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_clock.h"

#include <algorithm>

#include "base/check.h"

namespace levee {
namespace {

// More than happen at any instant; a simulation whose time stands still should say so.
constexpr int64_t kMaxEventsAtOnce = 10'000'000;

// How many elements of the heap are below each.
constexpr size_t kBelow = 4;

}  // namespace

// Returns the index in events_ of an event that is due then.
size_t SimClock::Add(Instant when) {
  if (free_.empty()) {
    free_.push_back(events_.size());
    events_.emplace_back();
  }
  const size_t place = free_.back();
  free_.pop_back();
  if (when <= now_) {
    due_now_.push_back(place);
  } else {
    Push({when, ++asked_, place});
  }
  return place;
}

void SimClock::Push(const Due& due) {
  size_t at = queue_.size();
  queue_.push_back(due);
  while (at > 0) {
    const size_t above = (at - 1) / kBelow;
    if (!(due < queue_[above])) break;
    queue_[at] = queue_[above];
    at = above;
  }
  queue_[at] = due;
}

// Takes the first one out.
SimClock::Due SimClock::Pop() {
  const Due first = queue_.front();
  const Due last = queue_.back();
  queue_.pop_back();
  const size_t size = queue_.size();
  if (size == 0) return first;
  size_t at = 0;
  while (true) {
    const size_t below = at * kBelow + 1;
    if (below >= size) break;
    size_t least = below;
    const size_t end = std::min(below + kBelow, size);
    for (size_t i = below + 1; i < end; ++i) {
      if (queue_[i] < queue_[least]) least = i;
    }
    if (!(queue_[least] < last)) break;
    queue_[at] = queue_[least];
    at = least;
  }
  queue_[at] = last;
  return first;
}

// Takes the next event out: returns its place in events_, and it is the time when it is due.
size_t SimClock::TakeNext() {
  if (!due_now_.empty() && (queue_.empty() || queue_.front().when > now_)) {
    ++at_once_;
    const size_t place = due_now_.front();
    due_now_.pop_front();
    return place;
  }
  const Due due = Pop();
  at_once_ = due.when == now_ ? at_once_ + 1 : 0;
  now_ = due.when;
  return due.event;
}

void SimClock::RunNext() {
  const size_t place = TakeNext();
  LEVEE_CHECK(at_once_ < kMaxEventsAtOnce);
  Event& event = events_[place];
  event();
  event.Reset();
  // Only now: the event may have asked for others.
  free_.push_back(place);
}

void SimClock::Run() {
  while (!empty()) RunNext();
}

void SimClock::RunFor(absl::Duration span) {
  const Instant end = now_ + span;
  while (!empty() && next() <= end) RunNext();
  now_ = end;
}

}  // namespace levee
