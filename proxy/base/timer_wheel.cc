// SPDX-License-Identifier: Apache-2.0
#include "base/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace levee {
namespace {

// Returns the first set bit at or after `from` in a ring of `words` x 64 bits, as a distance from
// `from`; -1 if no bit is set.
template <size_t kWords>
int NextBit(const std::array<uint64_t, kWords>& bits, int from) {
  constexpr int kSize = static_cast<int>(kWords) * 64;
  for (int distance = 0; distance < kSize;) {
    const int at = (from + distance) % kSize;
    const uint64_t word = bits[at / 64] >> (at % 64);
    if (word != 0) return distance + std::countr_zero(word);
    distance += 64 - at % 64;
  }
  return -1;
}

}  // namespace

TimerWheel::TimerWheel(Instant now) : tick_(now.nanos() / kTickNanos) {}

void TimerWheel::Arm(Timer& timer, Instant when) {
  timer.Unlink();
  if (when.is_infinite()) return;
  timer.when_ = when;
  // The tick is rounded up, so that no timer is called early. It is never one that is already over.
  const int64_t tick = when.nanos() / kTickNanos + (when.nanos() % kTickNanos > 0 ? 1 : 0);
  timer.tick_ = std::max(tick, tick_ + 1);
  wakeup_ = std::min({wakeup_, timer.tick_, INT64_MAX / kTickNanos});
  Place(timer);
}

void TimerWheel::Place(Timer& timer) {
  // The level is the highest group of bits in which the timer's tick differs from the wheel's. A
  // timer beyond the reach of the top level waits in a slot of that level. Each time the slot comes
  // round, the timer is found not to be due yet and is placed again.
  const auto differing = static_cast<uint64_t>(timer.tick_ ^ tick_);
  const int level =
      std::min(differing == 0 ? 0 : (static_cast<int>(std::bit_width(differing)) - 1) / kSlotBits,
               kLevels - 1);
  const int slot = static_cast<int>(timer.tick_ >> (level * kSlotBits)) & (kSlots - 1);
  levels_[level].slots[slot].PushBack(timer);
  levels_[level].occupied[slot / 64] |= uint64_t{1} << (slot % 64);
}

void TimerWheel::Cascade(int level) {
  const int slot = static_cast<int>(tick_ >> (level * kSlotBits)) & (kSlots - 1);
  if (slot == 0 && level + 1 < kLevels) Cascade(level + 1);
  Level& from = levels_[level];
  from.occupied[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  // A timer may land in the same slot again (beyond the reach of the top level), so the loop takes
  // only those that were there at the start.
  IntrusiveList<Timer> moved;
  while (Timer* timer = from.slots[slot].PopFront()) moved.PushBack(*timer);
  while (Timer* timer = moved.PopFront()) Place(*timer);
}

void TimerWheel::SortByInstant(IntrusiveList<Timer>& timers) {
  while (Timer* timer = timers.PopFront()) sorted_.push_back(timer);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [](const Timer* a, const Timer* b) { return a->when_ < b->when_; });
  for (Timer* timer : sorted_) timers.PushBack(*timer);
  sorted_.clear();
}

void TimerWheel::Fire(int64_t tick, Instant now) {
  const int slot = static_cast<int>(tick) & (kSlots - 1);
  Level& level = levels_[0];
  level.occupied[slot / 64] &= ~(uint64_t{1} << (slot % 64));
  if (!level.slots[slot].empty()) SortByInstant(level.slots[slot]);
  // A called timer may arm others, but never into this slot: they are placed at least a tick later.
  while (Timer* timer = level.slots[slot].PopFront()) timer->OnTimer(now);
}

int64_t TimerWheel::NextTick() {
  int64_t next = INT64_MAX;
  for (int at = 0; at < kLevels; ++at) {
    Level& level = levels_[at];
    const int shift = at * kSlotBits;
    const int from = static_cast<int>((tick_ >> shift) + 1) & (kSlots - 1);
    for (int distance = 0; (distance = NextBit(level.occupied, from)) >= 0;) {
      const int slot = (from + distance) & (kSlots - 1);
      if (!level.slots[slot].empty()) {
        next = std::min(next, ((tick_ >> shift) + 1 + distance) << shift);
        break;
      }
      // All timers of this slot were disarmed, as most timers are.
      level.occupied[slot / 64] &= ~(uint64_t{1} << (slot % 64));
    }
  }
  return next;
}

void TimerWheel::Advance(Instant now) {
  const int64_t target = now.nanos() / kTickNanos;
  while (tick_ < target) {
    // Jumps over ticks in which nothing can happen.
    tick_ = std::min(NextTick(), target);
    if ((tick_ & (kSlots - 1)) == 0) Cascade(1);
    Fire(tick_, now);
  }
}

Instant TimerWheel::NextWakeup() {
  if (wakeup_ <= tick_) wakeup_ = NextTick();
  return wakeup_ == INT64_MAX ? Instant::Infinite() : Instant::FromNanos(wakeup_ * kTickNanos);
}

}  // namespace levee
