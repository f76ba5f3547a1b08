// SPDX-License-Identifier: Apache-2.0
// The last 20 results as bits.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace levee {

// Remembers whether each of the last kLength results was a success; starts full of successes.
// Any thread. In the healthy case (all successes) recording only reads, so that workers do not
// fight over the cache line; otherwise it is one compare-and-swap.
class SuccessRegister {
 public:
  static constexpr int kLength = 20;

  void Record(bool success) {
    uint32_t bits = bits_.load(std::memory_order_relaxed);
    uint32_t next;
    do {
      next = ((bits << 1) | (success ? 1u : 0u)) & kFull;
      if (next == bits) return;
    } while (!bits_.compare_exchange_weak(bits, next, std::memory_order_relaxed));
  }

  int Failures() const { return kLength - std::popcount(bits_.load(std::memory_order_relaxed)); }

  // Share of successes, 0 to 1.
  double SuccessRate() const { return static_cast<double>(kLength - Failures()) / kLength; }

 private:
  static constexpr uint32_t kFull = (1u << kLength) - 1;

  std::atomic<uint32_t> bits_{kFull};
};

}  // namespace levee
