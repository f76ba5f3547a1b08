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

// The retries that start in a run of failures.
int MostOf(double burst_least) { return std::max(1, static_cast<int>(burst_least)); }

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
      most_(MostOf(policy.burst_least)),
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

void RetryBudget::RaiseBurst(double least) {
  credit_.RaiseLeast(least);
  int most = most_.load(std::memory_order_relaxed);
  while (most < MostOf(least) &&
         !most_.compare_exchange_weak(most, MostOf(least), std::memory_order_relaxed)) {
  }
}

RetryBudget::Turn RetryBudget::Ask(int worker, const Wish& wish, Instant now) {
  if (!OnlyFailuresSince(wish.first_failed)) {
    return Withdraw(worker, now) ? Turn::kGo : Turn::kRefused;
  }
  if (now >= WaitsUntil()) {
    return WithdrawInRun(worker, most_, now) ? Turn::kGo : Turn::kRefused;
  }
  const double left = LeftInWindow(now);
  const double to_spare = std::min(credit_.Available(now), left);
  const bool held = wish.last || to_spare < 2;
  if (!held && WithdrawInRun(worker, std::max(1, most_ - 1), now)) return Turn::kGo;
  // A success lets the first go by the credit, which comes back with it; the window pays for each.
  const bool payable = to_spare >= 1 && left >= static_cast<double>(waiting_.load() + 1);
  return payable ? Turn::kWait : Turn::kRefused;
}

bool RetryBudget::Release(int worker, Instant first_failed, Instant now) {
  if (!OnlyFailuresSince(first_failed)) return Withdraw(worker, now);
  return now >= WaitsUntil() && WithdrawInRun(worker, most_, now);
}

// Takes out a retry of a run of failures in which fewer than `most` have started.
bool RetryBudget::WithdrawInRun(int worker, int most, Instant now) {
  if (!run_.Start(most)) return false;
  if (Withdraw(worker, now)) return true;
  run_.TakeBack();
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

void RetryBudget::RecordEnd(const AttemptEnd& end, Instant now) {
  attempts_.Record(end.success);
  timeouts_.Record(!end.timeout);
  streams_.Record(!end.refused_stream);
  if (end.price > 0) retries_.Record(end.success);
  if (!end.success) {
    run_.OnFailure(now);
    return;
  }
  run_.OnSuccess();
  credit_.OnSuccess(end.price > 0 && RetriesAreFree(), now, std::max(1, end.price));
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

double RetryBudget::LeftInWindow(Instant now) const {
  const Totals totals = Sum(NewestSlot(now));
  return Limit(totals.calls) + kRounding - static_cast<double>(totals.retries);
}

double RetryBudget::Limit(int64_t calls) const {
  const double by_ratio = policy_.ratio * static_cast<double>(calls);
  return FloorWithheld() ? by_ratio : std::max(by_ratio, floor_);
}

}  // namespace levee
