// SPDX-License-Identifier: Apache-2.0
#include "policy/retry_credit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace levee {
namespace {

// Rounds, since products such as 0.29 x 100 are a little less than they should be. More credits
// than any load takes in a span are cut off, so that sums fit into 64 bits.
int64_t Billionths(double credits) { return std::llround(std::min(credits, 4e9) * 1e9); }

}  // namespace

// The calls of one worker, on a cache line of their own.
struct alignas(64) RetryCredit::Shard {
  SlotRing<kSlots> calls;
  SlotCursor cursor;
};

RetryCredit::RetryCredit(const RetryCreditPolicy& policy, int workers)
    : policy_(policy),
      least_(policy.least),
      // At least one billionth, so that successes earn something however small the ratio.
      earned_(std::max<int64_t>(1, Billionths(policy.ratio))),
      slot_nanos_(SlotNanos(policy.span, kSlots)),
      workers_(workers),
      shards_(std::make_unique<Shard[]>(static_cast<size_t>(workers))) {
  LEVEE_CHECK(workers >= 1);
}

RetryCredit::~RetryCredit() = default;

void RetryCredit::RaiseLeast(double least) {
  double known = least_.load(std::memory_order_relaxed);
  while (known < least && !least_.compare_exchange_weak(known, least, std::memory_order_relaxed)) {
  }
}

void RetryCredit::OnCall(int worker, Instant now) {
  Shard& shard = shards_[worker];
  shard.calls.Add(shard.cursor.At(now, slot_nanos_));
}

bool RetryCredit::Take(Instant now, int price) {
  if (policy_.ratio == 0) return true;
  Forgive(now);
  const int64_t cap = Cap(Calls(now));
  const int64_t needed = price > 1 ? std::clamp(cap, kCredit, 2 * kCredit) : kCredit;
  int64_t debt = debt_.load(std::memory_order_relaxed);
  do {
    if (debt + needed > cap) return false;
  } while (!debt_.compare_exchange_weak(debt, debt + price * kCredit, std::memory_order_relaxed));
  return true;
}

void RetryCredit::GiveBack(int price) {
  int64_t debt = debt_.load(std::memory_order_relaxed);
  while (!debt_.compare_exchange_weak(debt, std::max<int64_t>(0, debt - price * kCredit),
                                      std::memory_order_relaxed)) {
  }
}

void RetryCredit::OnSuccess(bool refund, Instant now, int price) {
  int64_t debt = debt_.load(std::memory_order_relaxed);
  if (debt == 0) return;
  const int64_t calls = Calls(now);
  const int64_t cap = Cap(calls);
  int64_t left;
  do {
    const int64_t share = std::max<int64_t>(0, debt - cap) / std::max<int64_t>(1, calls);
    left = std::max<int64_t>(0, debt - share - (refund ? price * kCredit : earned_));
  } while (!debt_.compare_exchange_weak(debt, left, std::memory_order_relaxed));
}

double RetryCredit::Available(Instant now) const {
  if (policy_.ratio == 0) return std::numeric_limits<double>::infinity();
  const int64_t debt = debt_.load(std::memory_order_relaxed) - Forgiven(now);
  const int64_t left = Cap(Calls(now)) - std::max<int64_t>(0, debt);
  return static_cast<double>(std::max<int64_t>(0, left)) / static_cast<double>(kCredit);
}

double RetryCredit::Full(Instant now) const {
  if (policy_.ratio == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(Cap(Calls(now))) / static_cast<double>(kCredit);
}

void RetryCredit::Forgive(Instant now) {
  const int64_t forgiven = Forgiven(now);
  int64_t at = forgiven_at_.load(std::memory_order_relaxed);
  const bool mine =
      forgiven_at_.compare_exchange_strong(at, now.nanos(), std::memory_order_relaxed);
  int64_t debt = debt_.load(std::memory_order_relaxed);
  while (mine && debt > 0 &&
         !debt_.compare_exchange_weak(debt, std::max<int64_t>(0, debt - forgiven),
                                      std::memory_order_relaxed)) {
  }
}

int64_t RetryCredit::Forgiven(Instant now) const {
  const int64_t since = now.nanos() - forgiven_at_.load(std::memory_order_relaxed);
  return std::max<int64_t>(0, since) / (absl::ToInt64Nanoseconds(kForgivenIn) / kCredit);
}

int64_t RetryCredit::Calls(Instant now) const {
  const uint64_t slot = SlotAt(now, slot_nanos_);
  int64_t calls = 0;
  for (int i = 0; i < workers_; ++i) calls += shards_[i].calls.Count(slot);
  return calls;
}

int64_t RetryCredit::Cap(int64_t calls) const {
  return Billionths(
      std::max(least_.load(std::memory_order_relaxed), policy_.ratio * static_cast<double>(calls)));
}

}  // namespace levee
