// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_budget.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "base/check.h"

namespace levee {
namespace {

// A slot's number and the events in it, in one word, so that a reader on another thread never pairs
// the count of one slot with the number of another. With slots of a millisecond the number repeats
// after two years; the count stops at 268 million.
constexpr int kCountBits = 28;
constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;
constexpr uint64_t kSlotMask = (uint64_t{1} << (64 - kCountBits)) - 1;

constexpr uint64_t SlotOf(uint64_t word) { return word >> kCountBits; }
constexpr uint64_t CountOf(uint64_t word) { return word & kCountMask; }
constexpr uint64_t Word(uint64_t slot, uint64_t count) { return slot << kCountBits | count; }

// A window shorter than ten of these lasts longer than asked, which only refuses more.
constexpr int64_t kMinSlotNanos = 1'000'000;

// Compensates the rounding of products such as 0.29 x 100.
constexpr double kRounding = 1e-9;

int64_t SlotNanos(absl::Duration window, int slots) {
  const int64_t nanos = absl::ToInt64Nanoseconds(window);
  return std::max(nanos / slots + (nanos % slots != 0 ? 1 : 0), kMinSlotNanos);
}

}  // namespace

// The counts of one worker, on cache lines of their own, so that deposits never wait for another
// core.
struct alignas(64) RetryBudget::Shard {
  // One entry more than the kSlots + 1 that are counted: a worker whose `now` is already one slot
  // ahead overwrites an entry that the others no longer need.
  static constexpr size_t kEntries = kSlots + 2;
  using Ring = std::array<std::atomic<uint64_t>, kEntries>;

  // Returns `word` with one more event in `slot`. If `word` is already ahead of `slot` (the
  // worker's `now` lags behind the slot of its last withdrawal), the event is added to the later
  // slot.
  static uint64_t Incremented(uint64_t word, uint64_t slot) {
    if (SlotOf(word) < slot) return Word(slot, 1);
    return CountOf(word) == kCountMask ? word : word + 1;
  }

  void AddTo(Totals& totals, uint64_t slot) const {
    const uint64_t oldest = slot > kSlots ? slot - kSlots : 0;
    for (const std::atomic<uint64_t>& entry : calls) {
      const uint64_t word = entry.load(std::memory_order_relaxed);
      // Calls ahead of `slot` are left out: they will pay for the retries of their own window.
      if (SlotOf(word) >= oldest && SlotOf(word) <= slot) {
        totals.calls += static_cast<int64_t>(CountOf(word));
      }
    }
    for (const std::atomic<uint64_t>& entry : retries) {
      const uint64_t word = entry.load(std::memory_order_seq_cst);
      // Retries ahead of `slot` count, since the calls of this window paid for them too.
      if (SlotOf(word) >= oldest) totals.retries += static_cast<int64_t>(CountOf(word));
      totals.newest = std::max(totals.newest, SlotOf(word));
    }
  }

  static uint64_t Newest(const Ring& ring) {
    uint64_t newest = 0;
    for (const std::atomic<uint64_t>& entry : ring) {
      newest = std::max(newest, SlotOf(entry.load(std::memory_order_relaxed)));
    }
    return newest;
  }

  Ring calls{};
  Ring retries{};
};

RetryBudget::RetryBudget(const RetryBudgetPolicy& policy, int workers)
    : policy_(policy),
      floor_(policy.floor_per_second * absl::ToDoubleSeconds(policy.window)),
      slot_nanos_(SlotNanos(policy.window, kSlots)),
      workers_(workers),
      shards_(std::make_unique<Shard[]>(static_cast<size_t>(workers))) {
  LEVEE_CHECK(workers >= 1);
}

RetryBudget::~RetryBudget() = default;

void RetryBudget::Deposit(int worker, Instant now) {
  const uint64_t slot = SlotAt(now);
  std::atomic<uint64_t>& entry = shards_[worker].calls[slot % Shard::kEntries];
  entry.store(Shard::Incremented(entry.load(std::memory_order_relaxed), slot),
              std::memory_order_relaxed);
}

bool RetryBudget::Withdraw(int worker, Instant now) {
  const uint64_t slot = NewestSlot(now);
  std::atomic<uint64_t>& entry = shards_[worker].retries[slot % Shard::kEntries];
  const uint64_t before = entry.load(std::memory_order_relaxed);
  const uint64_t reserved = Shard::Incremented(before, slot);
  if (reserved == before) return false;  // The count is full.
  // Reserve, then sum, both in the one total order of sequentially consistent operations. So if two
  // workers do this at the same moment, at least one of them sees the other's reservation.
  entry.store(reserved, std::memory_order_seq_cst);
  const Totals totals = Sum(slot);
  // Two slots passed while this thread stood still: retries of the window may have been
  // overwritten, so the sum proves nothing.
  const bool outrun = totals.newest > slot + 1;
  if (!outrun && static_cast<double>(totals.retries) <= Limit(totals.calls) + kRounding) {
    return true;
  }
  entry.store(before, std::memory_order_seq_cst);
  return false;
}

void RetryBudget::RecordEnd(bool success, bool retry) {
  attempts_.Record(success);
  if (retry) retries_.Record(success);
}

RetryBudget::State RetryBudget::Read(Instant now) const {
  const Totals totals = Sum(NewestSlot(now));
  State state;
  state.limit = Limit(totals.calls);
  state.available = std::max(0.0, state.limit - static_cast<double>(totals.retries));
  state.floor_withheld = FloorWithheld();
  state.calls = totals.calls;
  state.retries = totals.retries;
  return state;
}

uint64_t RetryBudget::SlotAt(Instant now) const {
  return static_cast<uint64_t>(std::max<int64_t>(now.nanos(), 0) / slot_nanos_) & kSlotMask;
}

uint64_t RetryBudget::NewestSlot(Instant now) const {
  uint64_t newest = SlotAt(now);
  for (int i = 0; i < workers_; ++i) {
    newest = std::max({newest, Shard::Newest(shards_[i].calls), Shard::Newest(shards_[i].retries)});
  }
  return newest;
}

RetryBudget::Totals RetryBudget::Sum(uint64_t slot) const {
  Totals totals;
  for (int i = 0; i < workers_; ++i) shards_[i].AddTo(totals, slot);
  return totals;
}

bool RetryBudget::FloorWithheld() const {
  return attempts_.SuccessRate() < policy_.floor_min_success &&
         retries_.SuccessRate() < policy_.floor_min_success;
}

double RetryBudget::Limit(int64_t calls) const {
  const double by_ratio = policy_.ratio * static_cast<double>(calls);
  return FloorWithheld() ? by_ratio : std::max(by_ratio, floor_);
}

}  // namespace levee
