// SPDX-License-Identifier: Apache-2.0
// How loaded a service is, for clients that balance by load.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "wire/load_report.h"

namespace levee {

// Averages of about the last second, in which older values weigh e times less each second. Any
// thread; no lock. Without clock.
class LoadMeter {
 public:
  // A call has ended, while the service was so utilized (LoadReport::utilization). Returns the
  // load.
  LoadReport OnEnd(bool failed, double utilization, Instant now) {
    calls_.fetch_add(1, std::memory_order_relaxed);
    if (failed) errors_.fetch_add(1, std::memory_order_relaxed);
    int64_t due = due_.load(std::memory_order_relaxed);
    // One caller looks, each tenth of a second; no other waits for it.
    const bool looks =
        now.nanos() >= due &&
        due_.compare_exchange_strong(due, now.nanos() + kLookEvery, std::memory_order_acq_rel);
    if (looks) Look(utilization, now);
    return {.utilization = utilization_.load(std::memory_order_relaxed),
            .calls = calls_rate_.load(std::memory_order_relaxed),
            .errors = errors_rate_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr int64_t kLookEvery = 100'000'000;
  static constexpr double kSecond = 1e9;

  void Look(double utilization, Instant now) {
    const int64_t looked = looked_.exchange(now.nanos(), std::memory_order_relaxed);
    const auto calls = static_cast<double>(calls_.exchange(0, std::memory_order_relaxed));
    const auto errors = static_cast<double>(errors_.exchange(0, std::memory_order_relaxed));
    const double seconds = static_cast<double>(now.nanos() - looked) / kSecond;
    // The first look has no time to relate its calls to.
    const bool first = looked == 0;
    const double weight = first ? 1 : 1 - std::exp(-seconds);
    Blend(utilization_, utilization, weight);
    if (first) return;
    Blend(calls_rate_, calls / seconds, weight);
    Blend(errors_rate_, errors / seconds, weight);
  }

  static void Blend(std::atomic<double>& average, double value, double weight) {
    const double old = average.load(std::memory_order_relaxed);
    average.store(old + weight * (value - old), std::memory_order_relaxed);
  }

  std::atomic<int64_t> due_{0};     // nanoseconds
  std::atomic<int64_t> looked_{0};  // nanoseconds; 0: never
  // Since then.
  std::atomic<int64_t> calls_{0};
  std::atomic<int64_t> errors_{0};
  std::atomic<double> utilization_{0};
  std::atomic<double> calls_rate_{0};
  std::atomic<double> errors_rate_{0};
};

}  // namespace levee
