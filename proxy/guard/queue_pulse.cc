// SPDX-License-Identifier: Apache-2.0
#include "guard/queue_pulse.h"

#include <utility>

namespace levee {
namespace {

// The share of calls refused above which a queue that lasts begins to stand, and below which it
// does not stand any more. Below the first, a short queue in the order of arrival wastes less.
constexpr double kMany = 0.4;
constexpr double kFew = 0.25;

// After so many idle half intervals nothing of an earlier time counts.
constexpr int kForgotten = 8;

// Whether a queue that shrank from `before` to `size` in half an interval is empty within another
// interval if it goes on like this.
bool Empties(int before, int size) { return size < before && size <= 2 * (before - size); }

}  // namespace

void QueuePulse::OnAdded(GuardRank rank, Instant now) {
  if (next_.is_infinite()) next_ = now + half_;
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
