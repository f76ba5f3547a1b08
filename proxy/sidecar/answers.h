// SPDX-License-Identifier: Apache-2.0
// Lets a thread wait for answers of the workers' loops.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/time/time.h"

namespace levee {

// A thread that wants to know something asks the loops, each in its own thread, and waits for their
// answers. A loop that has ended never answers, so End tells the threads to wait no longer. Any
// thread may call the functions. The object must outlive the loops.
class Answers {
 public:
  // The answer that one thread waits for. It is shared with the loops, since a loop may answer
  // after the thread has given up.
  template <typename Value>
  class Pending {
   public:
    // `missing`: the number of answers to wait for. `value`: the value before the first answer.
    Pending(size_t missing, Value value) : missing_(missing), value_(std::move(value)) {}

   private:
    friend class Answers;
    size_t missing_;
    Value value_;
  };

  // Gives one answer; called in a loop's thread. `change` adds it to the value. It runs under a
  // lock, so it must be short.
  template <typename Value, typename Change>
  void Add(Pending<Value>& pending, Change change) {
    const std::lock_guard lock(mutex_);
    change(pending.value_);
    if (--pending.missing_ == 0) changed_.notify_all();
  }

  // Gives the whole answer, `value`, so that no other loop is asked; called in a loop's thread.
  template <typename Value>
  void Close(Pending<Value>& pending, Value value) {
    const std::lock_guard lock(mutex_);
    pending.value_ = std::move(value);
    pending.missing_ = 0;
    changed_.notify_all();
  }

  // Waits until every answer has come, or until End, or for `patience`. Returns the value with the
  // answers that have come by then; if none has, that is the value that Pending was made with.
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

  // Ends every Wait, now and later. Called when no loop runs any more.
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
