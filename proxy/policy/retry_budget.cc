// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_budget.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/check.h"
#include "policy/slot_ring.h"

namespace levee {
namespace {

// Compensates the rounding of products such as 0.29 x 100.
constexpr double kRounding = 1e-9;

// Share of the last retries that have to succeed so that those that succeed cost no credit.
constexpr double kMostRetries = 0.9;

}  // namespace

// The counts of one worker, on cache lines of their own, so that deposits never wait for another
// core.
struct alignas(64) RetryBudget::Shard {
  void AddTo(Totals& totals, uint64_t slot) const {
    // Calls ahead of `slot` are left out: they will pay for the retries of their own window.
    totals.calls += calls.Count(slot);
    const uint64_t oldest = slot > kSlots ? slot - kSlots : 0;
    retries.ForEach(std::memory_order_seq_cst, [&](SlotCount count) {
      // Retries ahead of `slot` count, since the calls of this window paid for them too.
      if (count.slot() >= oldest) totals.retries += count.count();
      totals.newest = std::max(totals.newest, count.slot());
    });
  }

  SlotRing<kSlots> calls;
  SlotRing<kSlots> retries;
  SlotCursor cursor;
};

RetryBudget::RetryBudget(const RetryBudgetPolicy& policy, int workers)
    : policy_(policy),
      floor_(policy.floor_per_second * absl::ToDoubleSeconds(policy.window)),
      slot_nanos_(SlotNanos(policy.window, kSlots)),
      workers_(workers),
      shards_(std::make_unique<Shard[]>(static_cast<size_t>(workers))),
      credit_({.ratio = policy.ratio, .least = policy.burst_least, .span = policy.burst_span},
              workers) {
  LEVEE_CHECK(workers >= 1);
}

RetryBudget::~RetryBudget() = default;

void RetryBudget::Deposit(int worker, Instant now) {
  Shard& shard = shards_[worker];
  shard.calls.Add(shard.cursor.At(now, slot_nanos_));
  credit_.OnCall(worker, now);
}

bool RetryBudget::Withdraw(int worker, Instant now, int price) {
  if (!credit_.Take(now, price)) return false;
  if (WithdrawFromWindow(worker, now)) return true;
  credit_.GiveBack(price);
  return false;
}

bool RetryBudget::WithdrawFromWindow(int worker, Instant now) {
  const uint64_t slot = NewestSlot(now);
  std::atomic<uint64_t>& entry = shards_[worker].retries.EntryOf(slot);
  const SlotCount before(entry.load(std::memory_order_relaxed));
  const SlotCount reserved = before.Incremented(slot);
  if (reserved.word() == before.word()) return false;  // The count is full.
  // Reserve, then sum, both in the one total order of sequentially consistent operations. So if two
  // workers do this at the same moment, at least one of them sees the other's reservation.
  entry.store(reserved.word(), std::memory_order_seq_cst);
  const Totals totals = Sum(slot);
  // Two slots passed while this thread stood still: retries of the window may have been
  // overwritten, so the sum proves nothing.
  const bool outrun = totals.newest > slot + 1;
  if (!outrun && static_cast<double>(totals.retries) <= Limit(totals.calls) + kRounding) {
    return true;
  }
  entry.store(before.word(), std::memory_order_seq_cst);
  return false;
}

void RetryBudget::RecordEnd(bool success, bool retry, Instant now, int price) {
  attempts_.Record(success);
  if (retry) retries_.Record(success);
  if (success) credit_.OnSuccess(retry && RetriesAreFree(), now, price);
}

RetryBudget::State RetryBudget::Read(Instant now) const {
  const Totals totals = Sum(NewestSlot(now));
  State state;
  state.limit = Limit(totals.calls);
  state.available = std::min(std::max(0.0, state.limit - static_cast<double>(totals.retries)),
                             credit_.Available(now));
  state.at_once = std::min(state.limit, credit_.Full(now));
  state.floor_withheld = FloorWithheld();
  state.calls = totals.calls;
  state.retries = totals.retries;
  state.waiting = waiting_.load(std::memory_order_relaxed);
  return state;
}

uint64_t RetryBudget::NewestSlot(Instant now) const {
  uint64_t newest = SlotAt(now, slot_nanos_);
  for (int i = 0; i < workers_; ++i) {
    newest = std::max({newest, shards_[i].calls.Newest(), shards_[i].retries.Newest()});
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

bool RetryBudget::RetriesAreFree() const { return retries_.SuccessRate() >= kMostRetries; }

double RetryBudget::Limit(int64_t calls) const {
  const double by_ratio = policy_.ratio * static_cast<double>(calls);
  return FloorWithheld() ? by_ratio : std::max(by_ratio, floor_);
}

}  // namespace levee
