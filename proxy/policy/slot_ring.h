// SPDX-License-Identifier: Apache-2.0
// Events of one worker, counted by the slot of time in which they happened.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// A slot's number and the count of its events, in one word, so that a reader on another thread
// never pairs the count of one slot with the number of another. With slots of a millisecond the
// number repeats after two years; the count stops at 268 million.
class SlotCount {
 public:
  static constexpr uint64_t kMaxSlot = (uint64_t{1} << 36) - 1;

  constexpr SlotCount() = default;
  constexpr explicit SlotCount(uint64_t word) : word_(word) {}

  constexpr uint64_t word() const { return word_; }
  constexpr uint64_t slot() const { return word_ >> kCountBits; }
  constexpr int64_t count() const { return static_cast<int64_t>(word_ & kCountMask); }

  // Returns this count with one more event in `slot`. If it is already ahead of `slot` (the
  // worker's `now` lags behind), the event is added to the later slot. A full count stays as it is.
  constexpr SlotCount Incremented(uint64_t slot) const {
    if (this->slot() < slot) return SlotCount(slot << kCountBits | 1);
    return (word_ & kCountMask) == kCountMask ? *this : SlotCount(word_ + 1);
  }

 private:
  static constexpr int kCountBits = 28;
  static constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;
  uint64_t word_ = 0;
};

// The slot of an instant, of slots that last so long.
inline uint64_t SlotAt(Instant now, int64_t slot_nanos) {
  return static_cast<uint64_t>(std::max<int64_t>(now.nanos(), 0) / slot_nanos) &
         SlotCount::kMaxSlot;
}

// How long a slot lasts of which `slots` make up `span`, rounded up, in nanoseconds. At least a
// millisecond: a shorter span then lasts longer than asked.
inline int64_t SlotNanos(absl::Duration span, int slots) {
  const int64_t nanos = absl::ToInt64Nanoseconds(span);
  return std::max<int64_t>(nanos / slots + (nanos % slots != 0 ? 1 : 0), 1'000'000);
}

// The slot of each instant of one worker, whose `now` mostly stays in a slot for many calls: then
// there is nothing to divide. One thread.
class SlotCursor {
 public:
  // Returns SlotAt(now, slot_nanos). `slot_nanos` is the same in each call.
  uint64_t At(Instant now, int64_t slot_nanos) {
    if (static_cast<uint64_t>(now.nanos() - begin_) >= static_cast<uint64_t>(slot_nanos)) {
      slot_ = SlotAt(now, slot_nanos);
      begin_ = now.nanos() - std::max<int64_t>(now.nanos(), 0) % slot_nanos;
    }
    return slot_;
  }

 private:
  int64_t begin_ = 0;  // of slot_, in nanoseconds
  uint64_t slot_ = 0;
};

// The counts of the current slot and of the kSlots before it. One worker writes, all may read. It
// has one entry more than these: a worker whose `now` is already one slot ahead overwrites an entry
// that the others no longer need.
template <int kSlots>
class SlotRing {
 public:
  std::atomic<uint64_t>& EntryOf(uint64_t slot) { return entries_[slot % entries_.size()]; }

  // Counts an event in `slot`.
  void Add(uint64_t slot) {
    std::atomic<uint64_t>& entry = EntryOf(slot);
    const SlotCount count(entry.load(std::memory_order_relaxed));
    entry.store(count.Incremented(slot).word(), std::memory_order_relaxed);
  }

  // Calls f(SlotCount) for each entry.
  template <typename F>
  void ForEach(std::memory_order order, F f) const {
    for (const std::atomic<uint64_t>& entry : entries_) f(SlotCount(entry.load(order)));
  }

  // Returns the number of events in `slot` and the `before` slots before it, at most kSlots. Slots
  // ahead are left out.
  int64_t Count(uint64_t slot, uint64_t before = kSlots) const {
    const uint64_t oldest = slot > before ? slot - before : 0;
    int64_t sum = 0;
    ForEach(std::memory_order_relaxed, [&](SlotCount count) {
      if (count.slot() >= oldest && count.slot() <= slot) sum += count.count();
    });
    return sum;
  }

  // Returns the newest slot that has an event; 0: none.
  uint64_t Newest() const {
    uint64_t newest = 0;
    ForEach(std::memory_order_relaxed,
            [&](SlotCount count) { newest = std::max(newest, count.slot()); });
    return newest;
  }

 private:
  std::array<std::atomic<uint64_t>, kSlots + 2> entries_{};
};

}  // namespace levee
