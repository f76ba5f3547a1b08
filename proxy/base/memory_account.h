// SPDX-License-Identifier: Apache-2.0
// How much memory the process may hold (`limits.memory`), and what to do as it nears that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace levee {

enum class MemoryLevel {
  kPlenty,
  kTight,      // peers get small flow-control windows, and nothing is kept for later use
  kFull,       // besides, new work of those that hold much is refused, and the largest holders end
  kExhausted,  // besides, all new work is refused
};

// One account for all workers. It has no clock and measures nothing: its owner tells it what is
// held. Any thread.
class MemoryAccount {
 public:
  // The shares of the limit at which the levels begin.
  static constexpr double kTight = 0.6;
  static constexpr double kFull = 0.8;
  static constexpr double kExhausted = 0.9;

  // Measures from giving memory back to doing so once more. In quiet times there is one a second.
  static constexpr int kLater = 10;

  // Returns the limit of a process that may use `available` bytes: three quarters. The rest is for
  // the program itself, for sockets' buffers, and for what malloc cannot give back.
  static constexpr int64_t LimitOf(int64_t available) { return available / 4 * 3; }

  // `bytes`: the limit, above 0.
  explicit MemoryAccount(int64_t bytes) : limit_(bytes) {}

  void SetLimit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }

  // Bytes that are held beside those that the other functions are given. They change slowly.
  void SetOther(int64_t bytes) {
    other_.store(std::max<int64_t>(bytes, 0), std::memory_order_relaxed);
  }

  // Whether what else is held may be so much more by now that it must be measured again: a 16th of
  // the limit has been freed since this was last true, and malloc keeps what is freed, which the
  // next bytes may not be able to use. Until so little is held that it does not matter, never.
  // `freed`: all bytes that were ever freed. Any thread; true in one of them.
  bool MustMeasure(int64_t bytes, int64_t freed) {
    int64_t before = freed_.load(std::memory_order_relaxed);
    const int64_t since = freed - before;
    if (since < limit() / 16 || !IsTight(Held(bytes) + since)) return false;
    return freed_.compare_exchange_strong(before, freed, std::memory_order_relaxed);
  }

  // Whether malloc keeps so much that was freed that it should give it back: `kept`, the bytes that
  // are held and in no block, are a 16th of the limit more than they were at least since it last
  // did, or an eighth at all and so much was freed since, which may have let go of pages; and, if
  // they are an eighth, once more kLater measures after that, for what was freed too late. Then
  // every thread should give back its free blocks, too, as wanted_back() says: few of them keep
  // many pages. `freed`: all bytes that were ever freed.
  bool MustGiveBack(int64_t kept, int64_t freed) {
    const int64_t least = least_kept_.load(std::memory_order_relaxed);
    const int64_t much = limit() / 16;
    const int64_t since = freed - freed_as_given_.load(std::memory_order_relaxed);
    const bool now = kept > least + much || (kept > 2 * much && since > much);
    if (now) until_later_.store(kLater, std::memory_order_relaxed);
    const int left = now ? 0 : until_later_.load(std::memory_order_relaxed);
    if (left > 0) until_later_.store(left - 1, std::memory_order_relaxed);
    if (now || (left == 1 && kept > 2 * much)) {
      wanted_back_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    if (kept < least) least_kept_.store(kept, std::memory_order_relaxed);
    return false;
  }

  // So much is kept now that all was given back.
  void SetKept(int64_t kept, int64_t freed) {
    least_kept_.store(kept, std::memory_order_relaxed);
    freed_as_given_.store(freed, std::memory_order_relaxed);
  }

  // How often all threads were asked for their free blocks.
  int64_t wanted_back() const { return wanted_back_.load(std::memory_order_relaxed); }

  // A thread has given them back to malloc, which should give them to the system.
  void SetBlocksAreBack() { blocks_are_back_.store(true, std::memory_order_relaxed); }
  bool TakeBlocksAreBack() { return blocks_are_back_.exchange(false, std::memory_order_relaxed); }

  // Whether so much is more than plenty.
  bool IsTight(int64_t held) const {
    return static_cast<double>(held) >= kTight * static_cast<double>(limit());
  }

  // All that is held, where `bytes` change fast.
  int64_t Held(int64_t bytes) const { return bytes + other_.load(std::memory_order_relaxed); }

  // The level at which so much is held. `now`: the level before. Tight and full end only when a
  // tenth of the limit has been freed, so that two levels do not alternate.
  MemoryLevel Level(int64_t bytes, MemoryLevel now) const {
    const double share = static_cast<double>(Held(bytes)) / static_cast<double>(limit());
    if (share >= kExhausted) return MemoryLevel::kExhausted;
    if (share >= kFull - Slack(now >= MemoryLevel::kFull)) return MemoryLevel::kFull;
    if (share >= kTight - Slack(now >= MemoryLevel::kTight)) return MemoryLevel::kTight;
    return MemoryLevel::kPlenty;
  }

  // How many bytes of those that hold much to free at kFull so that it ends.
  int64_t Excess(int64_t bytes) const { return Above(kFull - kSlack, bytes); }

  // How many bytes to free whoever holds them; at most 0: none.
  int64_t ExcessOfAll(int64_t bytes) const { return Above(kExhausted, bytes); }

  // More than this is much for one of `holders` that hold `bytes` together: half of what they hold
  // on average, but at most a 64th of the limit and at least 64 KiB.
  size_t Much(size_t bytes, size_t holders) const {
    const size_t average = holders == 0 ? 0 : bytes / holders;
    return std::max<size_t>(std::min(average / 2, static_cast<size_t>(limit()) / 64), 64 << 10);
  }

  // How many bytes are left below the limit, at least 0.
  int64_t Free(int64_t bytes) const { return std::max<int64_t>(limit() - Held(bytes), 0); }

 private:
  static constexpr double kSlack = 0.1;

  int64_t Above(double share, int64_t bytes) const {
    return Held(bytes) - static_cast<int64_t>(share * static_cast<double>(limit())) + 1;
  }

  static constexpr double Slack(bool reached) { return reached ? kSlack : 0; }

  std::atomic<int64_t> limit_;
  std::atomic<int64_t> other_{0};
  std::atomic<int64_t> freed_{0};  // when MustMeasure was last true
  std::atomic<int64_t> least_kept_{0};
  std::atomic<int64_t> freed_as_given_{0};
  std::atomic<int> until_later_{0};  // measures; 0: it was done
  std::atomic<int64_t> wanted_back_{0};
  std::atomic<bool> blocks_are_back_{false};
};

}  // namespace levee
