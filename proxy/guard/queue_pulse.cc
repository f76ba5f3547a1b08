// SPDX-License-Identifier: Apache-2.0
#include "guard/queue_pulse.h"

#include <utility>

namespace levee {
namespace {

// The share of calls refused above which a queue that lasts begins to stand, and below which it
// does not stand any more. Below the first, a short queue in the order of arrival wastes less.
constexpr double kMany = 0.4;
constexpr double kFew = 0.25;

// An interval is as long as so many calls, but not longer than this for their sake.
constexpr int kCallsOfInterval = 5;
constexpr absl::Duration kLongestInterval = absl::Seconds(1);

// No call ends in a service that has stopped: for longer than two calls take, and than this. A
// service that stands for longer than the second has not stopped for a moment.
constexpr int kCallsOfStop = 2;
constexpr absl::Duration kShortestStop = absl::Milliseconds(25);
constexpr absl::Duration kLongestStop = absl::Milliseconds(500);

// After so many idle half intervals nothing of an earlier time counts.
constexpr int kForgotten = 8;

// Whether a queue that shrank from `before` to `size` in half an interval is empty within another
// interval if it goes on like this.
bool Empties(int before, int size) { return size < before && size <= 2 * (before - size); }

}  // namespace

void QueuePulse::SetWork(absl::Duration work) {
  work_ = work;
  half_ = std::max(least_interval_, std::min(kCallsOfInterval * work, kLongestInterval)) / 2;
}

bool QueuePulse::IsStop(absl::Duration pause) const {
  const absl::Duration work = work_.value_or(absl::ZeroDuration());
  return pause >= std::max(kShortestStop, kCallsOfStop * work) && pause < kLongestStop;
}

bool QueuePulse::excused(Instant now) const {
  const absl::Duration pause = now - last_taken_;
  return IsStop(pause) || (now < excused_until_ && pause < kLongestStop);
}

void QueuePulse::OnAdded(GuardRank rank, Instant now) {
  if (next_.is_infinite()) {
    next_ = now + half_;
    last_taken_ = now;
  }
  if (added_++ == 0) least_dear_ = rank;
  least_dear_ = std::max(least_dear_, rank);
}

// Slots become free at a rate that is known once some have.
void QueuePulse::MeasureRate() {
  constexpr int64_t kEnough = 8;
  measured_ += half_;
  if (taken_ < kEnough) return;
  per_second_ = static_cast<double>(taken_) / absl::ToDoubleSeconds(measured_);
  measured_ = absl::ZeroDuration();
  taken_ = 0;
}

bool QueuePulse::Look(Instant now, int size, Instant oldest) {
  const bool stood = stands_;
  if (size == 0 && next_ + kForgotten * half_ < now) Rest();
  while (next_ <= now) LookOnce(size, oldest);
  return stands_ && !stood;
}

void QueuePulse::LookOnce(int size, Instant oldest) {
  if (emptied_ || size == 0) {
    excused_until_ = next_;
  } else {
    const absl::Duration pause = next_ - last_taken_;
    if (IsStop(pause)) excused_until_ = next_ + pause + 2 * half_;
    if (excused(next_)) {
      next_ = next_ + half_;
      size_before_ = size;
      return;
    }
  }
  const double share = added_ > 0 ? static_cast<double>(refused_) / static_cast<double>(added_) : 0;
  refused_share_ = (refused_share_ + share) / 2;
  if (emptied_) {
    looks_ = 0;
    taken_ = 0;
    if (refused_share_ < kFew) stands_ = false;
  } else {
    MeasureRate();
    const bool pressed = refused_share_ >= kMany || oldest + 2 * half_ <= next_;
    if (++looks_ >= 2 && pressed && !Empties(size_before_, size)) stands_ = true;
  }
  next_ = next_ + half_;
  if (size == 0 && !stands_) {
    Rest();
    return;
  }
  size_before_ = size;
  added_ = refused_ = 0;
  emptied_ = size == 0;
  least_dear_before_ = std::exchange(least_dear_, GuardRank());
}

// The queue is not in use.
void QueuePulse::Rest() {
  stands_ = emptied_ = false;
  next_ = Instant::Infinite();
  looks_ = size_before_ = 0;
  refused_share_ = 0;
  added_ = refused_ = taken_ = 0;
  measured_ = absl::ZeroDuration();
  least_dear_ = least_dear_before_ = GuardRank();
}

}  // namespace levee
