// SPDX-License-Identifier: Apache-2.0
// Since when nothing but failures has come from a destination.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/instant.h"

namespace levee {

// An unbroken run of failures of one destination, and the retries that were started in it. Any
// thread. While all is well OnSuccess only reads, so that workers do not fight over the cache line.
class FailureRun {
 public:
  void OnFailure(Instant now) {
    int64_t none = Instant::Infinite().nanos();
    since_.compare_exchange_strong(none, now.nanos(), std::memory_order_relaxed);
  }

  void OnSuccess() {
    if (since().is_infinite()) return;
    retries_.store(0, std::memory_order_relaxed);
    since_.store(Instant::Infinite().nanos(), std::memory_order_relaxed);
  }

  // The first failure after the last success; Infinite: the last attempt succeeded.
  Instant since() const { return Instant::FromNanos(since_.load(std::memory_order_relaxed)); }

  // Counts a retry that starts, and returns true, unless `most` have started in this run.
  bool Start(int most) {
    int retries = retries_.load(std::memory_order_relaxed);
    do {
      if (retries >= most) return false;
    } while (!retries_.compare_exchange_weak(retries, retries + 1, std::memory_order_relaxed));
    return true;
  }

  // A retry that was counted does not start after all.
  void TakeBack() {
    int retries = retries_.load(std::memory_order_relaxed);
    while (retries > 0 &&
           !retries_.compare_exchange_weak(retries, retries - 1, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<int64_t> since_{Instant::Infinite().nanos()};
  std::atomic<int> retries_{0};
};

}  // namespace levee
