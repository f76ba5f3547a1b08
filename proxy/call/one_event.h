// SPDX-License-Identifier: Apache-2.0
// The rule that the calls of a thread handle one event at a time.
#pragma once

#include <utility>

#include "base/check.h"

namespace levee {

// Lives while a call handles an event. In builds with assertions (those of the sanitizers) it ends
// the process if the thread's calls handle another one meanwhile. A call in the middle of a change
// of its own state would be told of something that it has caused itself, or would end while it
// starts an attempt. So whoever hears from a call and has news for calls (the waiting line, guards,
// tables of keys, pools) notes it, and tells it when the host says so, in an event of its own.
class OneEvent {
 public:
#ifdef NDEBUG
  OneEvent() {}  // Not defaulted: a variable of it would be an unused one.
#else
  OneEvent() { LEVEE_CHECK(!std::exchange(handled_, true)); }
  ~OneEvent() { handled_ = false; }
#endif
  OneEvent(const OneEvent&) = delete;
  OneEvent& operator=(const OneEvent&) = delete;

#ifndef NDEBUG
 private:
  static inline thread_local bool handled_ = false;
#endif
};

}  // namespace levee
