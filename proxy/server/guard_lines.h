// SPDX-License-Identifier: Apache-2.0
// One worker's sides of the guards that its calls pass.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/timer_wheel.h"
#include "guard/guard_line.h"

namespace levee {

// One thread.
class GuardLines {
 public:
  // `wheel` outlives it and what it returned.
  GuardLines(TimerWheel& wheel, int worker) : wheel_(wheel), worker_(worker) {}

  // Returns the worker's side of a guard. It exists as long as a plan holds it.
  std::shared_ptr<GuardLine> Of(const std::shared_ptr<Guard>& guard);

  // Tells the waiting calls of this worker what their guards have decided. To be called when the
  // guards' table wakes the worker.
  void Look(Instant now);

 private:
  // A line that looks by itself when its queue asks for it.
  class TimedLine final : private Timer {
   public:
    TimedLine(std::shared_ptr<Guard> guard, int worker, TimerWheel& wheel)
        : line_(std::move(guard), worker, [this, &wheel](Instant when) {
            if (when < Timer::when()) wheel.Arm(*this, when);
          }) {}

    GuardLine& line() { return line_; }

   private:
    void OnTimer(Instant now) override { line_.Look(now); }

    GuardLine line_;
  };

  TimerWheel& wheel_;
  const int worker_;
  std::vector<std::weak_ptr<TimedLine>> lines_;
};

}  // namespace levee
