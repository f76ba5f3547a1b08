// SPDX-License-Identifier: Apache-2.0
// Bounds what all replay buffers together may hold (`limits.replay_bytes`), and shares it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace levee {

// The bytes that no worker has leased yet. Shared by all workers.
class ReplayMemory {
 public:
  explicit ReplayMemory(int64_t bytes) : total_(bytes), free_(bytes) {}

  // Sets another bound. Memory leased beyond a lower one comes back as its holders return it. Any
  // thread, but one at a time.
  void Resize(int64_t bytes) { free_ += bytes - total_.exchange(bytes); }

 private:
  friend class ReplayLease;
  std::atomic<int64_t> total_;
  std::atomic<int64_t> free_;
};

// One worker's part, leased in units, so that the shared count is touched rarely. One thread,
// but for used().
//
// Whoever keeps little finds room beside those who keep much: the last quarter of the memory is for
// calls that keep little, and the last eighth for callers that do, whose calls on the worker
// together keep no more than kSmallCaller.
class ReplayLease {
 public:
  static constexpr int64_t kUnit = 256 * 1024;
  static constexpr int64_t kSmallCall = 4 * 1024;
  static constexpr int64_t kSmallCaller = 64 * 1024;

  explicit ReplayLease(ReplayMemory& memory) : memory_(memory) {}
  ~ReplayLease();
  ReplayLease(const ReplayLease&) = delete;
  ReplayLease& operator=(const ReplayLease&) = delete;

  // Takes `bytes` for a call that has taken `held` and not returned them. `sender`: who its caller
  // is (ConnectionOrigin::sender). False if the call may not have them; then nothing is taken.
  bool Take(uint64_t sender, int64_t held, int64_t bytes);

  // Returns what was taken for a caller.
  void Give(uint64_t sender, int64_t bytes);

  // Bytes in use by this worker's calls. Any thread.
  int64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShares = 256;  // few callers have the same one

  bool MayKeep(int64_t by_caller, int64_t by_call, int64_t spare) const;
  bool LeaseMore(int64_t bytes);
  int64_t& ShareOf(uint64_t sender) { return shares_[sender % kShares]; }

  ReplayMemory& memory_;
  std::array<int64_t, kShares> shares_{};  // bytes in use by each caller
  int64_t leased_ = 0;
  std::atomic<int64_t> used_{0};  // written by this worker only
};

}  // namespace levee
