// SPDX-License-Identifier: Apache-2.0
// Bounds what all replay buffers together may hold (`limits.replay_bytes`).
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace levee {

// The bytes that no worker has leased yet. Shared by all workers.
class ReplayMemory {
 public:
  explicit ReplayMemory(int64_t bytes) : total_(bytes), free_(bytes) {}

  // Sets another bound. Memory leased beyond a lower one comes back as its holders return it. Any
  // thread, but one at a time.
  void Resize(int64_t bytes) { free_ += bytes - std::exchange(total_, bytes); }

 private:
  friend class ReplayLease;
  int64_t total_;
  std::atomic<int64_t> free_;
};

// One worker's share, leased in units, so that the shared count is touched rarely. One thread,
// but for used().
class ReplayLease {
 public:
  static constexpr int64_t kUnit = 256 * 1024;

  explicit ReplayLease(ReplayMemory& memory) : memory_(memory) {}
  ~ReplayLease();
  ReplayLease(const ReplayLease&) = delete;
  ReplayLease& operator=(const ReplayLease&) = delete;

  // False if the bytes cannot be had; then nothing is taken.
  bool Take(int64_t bytes);

  // Returns what was taken.
  void Give(int64_t bytes);

  // Bytes in use by this worker's calls. Any thread.
  int64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  bool LeaseMore(int64_t bytes);

  ReplayMemory& memory_;
  int64_t leased_ = 0;
  std::atomic<int64_t> used_{0};  // written by this worker only
};

}  // namespace levee
