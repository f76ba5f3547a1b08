// SPDX-License-Identifier: Apache-2.0
// Timers of one worker: a hashed hierarchical wheel (Varghese and Lauck, 1987), 1 ms per tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "base/intrusive_list.h"

namespace levee {

class TimerWheel;

// An object that is called at an instant. Derive from it; it can be in one wheel at a time. The
// wheel must outlive the timer's last use. Destroying an armed timer disarms it.
class Timer : public ListLink<Timer> {
 public:
  virtual ~Timer() = default;

  // Called once, at the earliest at the instant asked for and at the latest a tick and the loop's
  // turn after it. May arm this timer again, and may arm, disarm or destroy others.
  virtual void OnTimer(Instant now) = 0;

  // The instant at which this is called; Infinite when not armed.
  Instant when() const { return linked() ? when_ : Instant::Infinite(); }

 private:
  friend class TimerWheel;

  Instant when_ = Instant::Infinite();
  int64_t tick_ = 0;
};

// Arming and disarming are O(1). One thread per object.
class TimerWheel {
 public:
  // `now`: the instant at which the wheel starts.
  explicit TimerWheel(Instant now);

  // Moves the timer to `when` (rounded up to the tick); Infinite disarms it.
  void Arm(Timer& timer, Instant when);

  // Calls every timer that is due at `now`, in the order of their instants.
  void Advance(Instant now);

  // Returns an instant that is not later than the next timer is due, and later than the last tick
  // that was advanced to; Infinite if none was armed since the last wakeup. It may be earlier, at a
  // place where the wheel turns over or where a timer has been disarmed; then Advance calls no timer.
  Instant NextWakeup();

 private:
  static constexpr int kSlotBits = 8;
  static constexpr int kSlots = 1 << kSlotBits;
  static constexpr int kLevels = 4;
  static constexpr int64_t kTickNanos = 1'000'000;

  struct Level {
    std::array<IntrusiveList<Timer>, kSlots> slots;
    // The bit of a slot that has become empty stays set until NextTick finds the slot empty.
    std::array<uint64_t, kSlots / 64> occupied{};
  };

  void Place(Timer& timer);
  void Cascade(int level);
  void Fire(int64_t tick, Instant now);
  void SortByInstant(IntrusiveList<Timer>& timers);
  int64_t NextTick();

  int64_t tick_;  // all timers at or before it have been called
  // No timer is due before this tick. Most timers are disarmed, and looking for the next one in every
  // turn would cost more than a wakeup now and then for one that is gone.
  int64_t wakeup_ = INT64_MAX;
  std::array<Level, kLevels> levels_;
  std::vector<Timer*> sorted_;  // empty but while a tick's timers are sorted
};

}  // namespace levee
