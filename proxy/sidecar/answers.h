// SPDX-License-Identifier: Apache-2.0
// Answers of the workers' loops that another thread waits for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/time/time.h"

namespace levee {

// A thread that wants to know something asks the loops, each in its own thread, and waits for what
// they say. A loop that has ended never answers, so End tells the threads to wait no longer. Any
// thread; outlives the loops.
class Answers {
 public:
  // What one thread waits for. Loops that answer late, when the thread has given up, share it.
  template <typename Value>
  class Pending {
   public:
    // `missing`: how many answers are to come.
    Pending(size_t missing, Value value) : missing_(missing), value_(std::move(value)) {}

   private:
    friend class Answers;
    size_t missing_;
    Value value_;
  };

  // In a loop's thread: one answer more. `change`: adds it to the value. It runs under a lock, so
  // it must be short.
  template <typename Value, typename Change>
  void Add(Pending<Value>& pending, Change change) {
    const std::lock_guard lock(mutex_);
    change(pending.value_);
    if (--pending.missing_ == 0) changed_.notify_all();
  }

  // In a loop's thread: `value` is the whole answer, and no other loop is asked.
  template <typename Value>
  void Close(Pending<Value>& pending, Value value) {
    const std::lock_guard lock(mutex_);
    pending.value_ = std::move(value);
    pending.missing_ = 0;
    changed_.notify_all();
  }

  // Waits until every answer is there, or until End, or for `patience`. Takes out what has come by
  // then: the value as it was given to Pending, if nothing has.
  template <typename Value>
  Value Wait(Pending<Value>& pending, absl::Duration patience) {
    const auto over = [&] { return pending.missing_ == 0 || ended_; };
    std::unique_lock lock(mutex_);
    if (patience == absl::InfiniteDuration()) {
      changed_.wait(lock, over);
    } else {
      changed_.wait_for(lock, absl::ToChronoMilliseconds(patience), over);
    }
    return std::move(pending.value_);
  }

  // No loop runs any more.
  void End() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

}  // namespace levee
