// Timers of one worker: a hashed hierarchical wheel (Varghese and Lauck, 1987), 1 ms per tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "base/intrusive_list.h"

namespace levee {

class TimerWheel;

// Something that wants to be called at an instant. Derive, and be in at most one wheel; the wheel
// must outlive the timer's last use. Destroying an armed timer disarms it.
class Timer : public ListLink<Timer> {
 public:
  virtual ~Timer() = default;

  // Called once, not before the instant asked for and at most a tick plus the loop's turn after it.
  // May arm this timer again and arm, disarm or destroy others.
  virtual void OnTimer(Instant now) = 0;

  // Infinite when not armed.
  Instant when() const { return linked() ? when_ : Instant::Infinite(); }

 private:
  friend class TimerWheel;

  Instant when_ = Instant::Infinite();
  int64_t tick_ = 0;
};

// Arming and disarming are O(1). One thread per object.
class TimerWheel {
 public:
  // `now`: where the wheel starts.
  explicit TimerWheel(Instant now);

  // Moves the timer to `when` (rounded up to the tick); Infinite disarms it.
  void Arm(Timer& timer, Instant when);

  // Calls every timer that is due at `now`, in the order of their instants.
  void Advance(Instant now);

  // Not later than the next timer that is due; Infinite if none is armed. May be earlier than it
  // (a place where the wheel turns over), so Advance may call nobody.
  Instant NextWakeup();

 private:
  static constexpr int kSlotBits = 8;
  static constexpr int kSlots = 1 << kSlotBits;
  static constexpr int kLevels = 4;
  static constexpr int64_t kTickNanos = 1'000'000;

  struct Level {
    std::array<IntrusiveList<Timer>, kSlots> slots;
    // A bit may stay set for a slot that has become empty, until somebody looks.
    std::array<uint64_t, kSlots / 64> occupied{};
  };

  void Place(Timer& timer);
  void Cascade(int level);
  void Fire(int64_t tick, Instant now);
  void SortByInstant(IntrusiveList<Timer>& timers);
  int64_t NextTick();

  int64_t tick_;  // all timers at or before it have been called
  std::array<Level, kLevels> levels_;
  std::vector<Timer*> sorted_;  // empty but while a tick's timers are sorted
};

}  // namespace levee
