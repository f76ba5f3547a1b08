// SPDX-License-Identifier: Apache-2.0
// The rule that the calls of a worker handle one event at a time.
#pragma once

#ifndef NDEBUG
#include <algorithm>
#include <vector>

#include "base/check.h"
#endif

namespace levee {

// Lives while a call handles an event. In builds with assertions (those of the sanitizers) it ends
// the process if another call of the same worker, or the call itself, is given an event meanwhile.
// A call in the middle of a change of its own state would be told of something that it has caused
// itself, or would end while it starts an attempt. So whoever hears from a call and has news for
// calls (the waiting line, guards, tables of keys, pools) notes it, and tells it when the host says
// so, in an event of its own.
class OneEvent {
 public:
  // `shared`: an object that the calls of one worker share, and those of no other. In simulations a
  // thread runs the workers of several sidecars, and an event of one is another's within it.
#ifdef NDEBUG
  explicit OneEvent(const void*) {}  // Not defaulted: a variable of it would be an unused one.
#else
  explicit OneEvent(const void* shared) {
    LEVEE_CHECK(std::find(handling_.begin(), handling_.end(), shared) == handling_.end());
    handling_.push_back(shared);
  }
  ~OneEvent() { handling_.pop_back(); }
#endif
  OneEvent(const OneEvent&) = delete;
  OneEvent& operator=(const OneEvent&) = delete;

#ifndef NDEBUG
 private:
  static inline thread_local std::vector<const void*> handling_;
#endif
};

}  // namespace levee
