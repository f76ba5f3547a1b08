// SPDX-License-Identifier: Apache-2.0
// Time that goes to the next timer whenever a loop would wait, for tests of one thread.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// While one of these lives, the loops of its thread, and the libraries on them, read a clock that
// stands still as long as there is something to do. Where a loop would wait, the clock goes to the
// next timer. So bounds are exact, a test of seconds takes none, and a busy machine changes
// nothing. Other threads have real time.
//
// It is for peers that are all in this thread: time passes over one that another thread, or another
// process, would answer. Two things are waited for in real time: what a loop has given to libuv's
// own threads, and whatever wakes a loop that has no timer.
//
// By the linker's --wrap. It must be made before the loops.
class JumpingTime {
 public:
  JumpingTime();
  ~JumpingTime();
  JumpingTime(const JumpingTime&) = delete;
  JumpingTime& operator=(const JumpingTime&) = delete;

  // What net::ReadClock says.
  static Instant now();
};

}  // namespace levee
