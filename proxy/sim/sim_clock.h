// SPDX-License-Identifier: Apache-2.0
// Virtual time: a queue of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "sim/inline_function.h"

namespace levee {

// Time stands still while an event runs, then jumps to the next one. Events of the same instant run
// in the order in which they were asked for, so a run depends on nothing but its seeds.
class SimClock {
 public:
  // When every clock begins. Not zero and not a round number: a zero Instant or an alignment that
  // code relies on by mistake shows.
  static constexpr Instant Start() { return Instant::FromNanos(98'765'432'101); }

  Instant now() const { return now_; }

  // Virtual time since the clock was made. All records of the simulation are in it.
  absl::Duration elapsed() const { return now_ - Start(); }

  // Runs `event`, a function without parameters, at `when`, or in the next turn if that has passed.
  // Infinite: never.
  template <typename F>
  void At(Instant when, F&& event) {
    if (!when.is_infinite()) events_[Add(when)].Set(std::forward<F>(event));
  }
  template <typename F>
  void After(absl::Duration delay, F&& event) {
    At(now_ + delay, std::forward<F>(event));
  }

  // When the next event is due; Infinite: there is none.
  Instant next() const {
    if (!due_now_.empty()) return now_;
    return queue_.empty() ? Instant::Infinite() : queue_.front().when;
  }

  // Until there is no event left.
  void Run();

  // All events of the next `span`, its end included; afterwards that much time has passed.
  void RunFor(absl::Duration span);

 private:
  // Small, since a heap moves its elements often.
  struct Due {
    Instant when;
    int64_t sequence;
    size_t event;  // the index in events_

    bool operator<(const Due& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };

  using Event = InlineFunction<void(), 48>;

  size_t Add(Instant when);
  void Push(const Due& due);
  Due Pop();
  bool empty() const { return queue_.empty() && due_now_.empty(); }
  size_t TakeNext();
  void RunNext();

  Instant now_ = Start();
  int64_t asked_ = 0;    // events asked for
  int64_t at_once_ = 0;  // events that ran at now_
  // A heap, the earliest first, of which each element has four below it: half of the levels of one
  // with two, and those four are neighbours in memory. Its events that are due now were asked for
  // before those of due_now_.
  std::vector<Due> queue_;
  std::deque<size_t> due_now_;  // the indices in events_ of those asked for at now_, in order
  std::deque<Event> events_;    // which run where they are, while others are added
  std::vector<size_t> free_;    // indices in events_ that no event has
};

}  // namespace levee
