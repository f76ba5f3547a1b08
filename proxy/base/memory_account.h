// SPDX-License-Identifier: Apache-2.0
// How much memory the process may hold (`limits.memory`), and what to do as it nears that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace levee {

enum class MemoryLevel {
  kPlenty,
  kTight,  // peers get small flow-control windows, and nothing is kept for later use
  kFull,   // besides, new work is refused, and the largest holders end
};

// One account for all workers. It has no clock and measures nothing: its owner tells it what is
// held. Any thread.
class MemoryAccount {
 public:
  // `bytes`: the limit, above 0.
  explicit MemoryAccount(int64_t bytes) : limit_(bytes) {}

  void SetLimit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }

  // Bytes that are held beside those that the other functions are given. They change slowly.
  void SetOther(int64_t bytes) {
    other_.store(std::max<int64_t>(bytes, 0), std::memory_order_relaxed);
  }

  // All that is held, where `bytes` change fast.
  int64_t Held(int64_t bytes) const { return bytes + other_.load(std::memory_order_relaxed); }

  // The level at which so much is held. `now`: the level before, which ends only when a tenth of
  // the limit has been freed, so that two levels do not alternate.
  MemoryLevel Level(int64_t bytes, MemoryLevel now) const {
    const double share = static_cast<double>(Held(bytes)) / static_cast<double>(limit());
    if (share >= kFull - Slack(now >= MemoryLevel::kFull)) return MemoryLevel::kFull;
    if (share >= kTight - Slack(now >= MemoryLevel::kTight)) return MemoryLevel::kTight;
    return MemoryLevel::kPlenty;
  }

  // How many bytes to free at kFull so that it ends.
  int64_t Excess(int64_t bytes) const {
    return Held(bytes) - static_cast<int64_t>((kFull - kSlack) * static_cast<double>(limit())) + 1;
  }

  // How many bytes are left below the limit, at least 0.
  int64_t Free(int64_t bytes) const { return std::max<int64_t>(limit() - Held(bytes), 0); }

 private:
  static constexpr double kTight = 0.6;
  static constexpr double kFull = 0.8;
  static constexpr double kSlack = 0.1;

  static constexpr double Slack(bool reached) { return reached ? kSlack : 0; }

  std::atomic<int64_t> limit_;
  std::atomic<int64_t> other_{0};
};

}  // namespace levee
