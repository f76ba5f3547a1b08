// SPDX-License-Identifier: Apache-2.0
// The retry budget, which keeps retries from becoming the outage.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/retry_credit.h"
#include "policy/success_register.h"
#include "wire/refusal.h"

namespace levee {

struct RetryBudgetPolicy {
  double ratio = 0.1;                            // retries per call, at least 0
  absl::Duration window = absl::Seconds(10);     // above zero
  double floor_per_second = 1;                   // at least 0; 0: no floor
  double floor_min_success = 0.8;                // 0 to 1
  double burst_least = 2;                        // at least 0
  absl::Duration burst_span = absl::Seconds(1);  // above zero
  absl::Duration wait = absl::Seconds(2);        // of a retry, for a success; zero: none
  friend bool operator==(const RetryBudgetPolicy&, const RetryBudgetPolicy&) = default;
};

// How many credits a retry takes. A timeout mostly says that the upstream has more work than it can
// do, and that it may still be at work on the call. A retry that succeeds gives its price back
// while retries mostly work (RetryBudget), so the price matters only where retries fail.
constexpr int PriceOf(std::optional<RetryTrigger> trigger) {
  return trigger == RetryTrigger::kTimeout ? 10 : 1;
}

// One budget, of one destination, shared by all workers. A retry is allowed iff successes have paid
// for it (RetryCredit, which bounds each moment) and
//
//     retries + 1 <= max(ratio x calls, floor)
//
// over the last window (which bounds the sum), where floor = floor_per_second x window, and counts
// only while at least floor_min_success of the last 20 ended attempts, or of the last 20 retries,
// succeeded.
//
// A retry that succeeds gives its credit back only while at most 2 of the last 20 retries failed.
// Where more of them fail, which retries succeed is a matter of luck. A streak of free ones would
// then be a burst, and no second would have a bound.
//
// The window is kept as kSlots slots. A slot leaves the window only when all of the slot is older
// than the window: the current slot is counted in addition to the last kSlots full ones. Calls and
// retries live equally long. So two retries that spend the same call or the same floor are always
// counted together, and over any run
//
//     attempts <= calls x (1 + ratio) + floor x ceil(elapsed / window).
//
// Deposits are relaxed writes to a shard that only one worker writes. A withdrawal reserves in its
// own shard, sums all shards, and takes the reservation back if the sum is too large. There is no
// lock: two workers that withdraw the last retry at the same moment may both be refused, but never
// both allowed. The window never gives back what was withdrawn.
class RetryBudget {
 public:
  // `workers`: number of shards, at least 1.
  RetryBudget(const RetryBudgetPolicy& policy, int workers);
  ~RetryBudget();
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  // A first attempt was started. Only from the thread of `worker` (0-based); likewise Withdraw.
  // `now` never goes backward in one worker.
  void Deposit(int worker, Instant now);

  // Takes one retry out and returns true if the rule above allows it. A refusal changes nothing.
  // `price`: in credits, PriceOf what the retry follows.
  bool Withdraw(int worker, Instant now, int price = 1);

  // An attempt ended (`retry`: it was charged to the budget, at `price`). Any thread.
  void RecordEnd(bool success, bool retry, Instant now, int price = 1);

  // Whether the last attempts that ended have all failed: the upstream seems to be away. Any
  // thread.
  bool SeemsAway() const { return attempts_.LastFailed(kAwayAfter); }

  // The credit that is left, which WithdrawFromWindow may still refuse. Any thread.
  double Credit(Instant now) const { return credit_.Available(now); }

  // A retry begins to wait (1), or does not wait any longer (-1). For the dashboard. Any thread.
  void CountWaiting(int change) { waiting_.fetch_add(change, std::memory_order_relaxed); }

  // The numbers for a dashboard. Any thread; each number may be one event off.
  struct State {
    double limit = 0;      // max(ratio x calls, floor)
    double available = 0;  // the lesser of limit - retries and the credit, at least 0
    double at_once = 0;    // what `available` is at most: the lesser of limit and the full credit
    bool floor_withheld = false;
    int64_t calls = 0;  // in the window
    int64_t retries = 0;
    int64_t waiting = 0;  // retries that wait for a success to pay for them
  };
  State Read(Instant now) const;

  const RetryBudgetPolicy& policy() const { return policy_; }

 private:
  static constexpr int kSlots = 10;
  // One failure says little. A call has three attempts by default: with two failures as the sign
  // its last one is not lost to an outage that its first two have met.
  static constexpr int kAwayAfter = 2;
  struct Shard;

  // The sums over all shards, as seen from one slot.
  struct Totals {
    int64_t calls = 0;
    int64_t retries = 0;
    uint64_t newest = 0;  // the newest slot in which there is a retry
  };

  bool WithdrawFromWindow(int worker, Instant now);
  // Returns the slot of `now`, or a newer one if some worker has reached it, so that all workers
  // look at one window.
  uint64_t NewestSlot(Instant now) const;
  // Returns the sums over `slot` and the kSlots before it.
  Totals Sum(uint64_t slot) const;
  bool FloorWithheld() const;
  bool RetriesAreFree() const;
  double Limit(int64_t calls) const;

  const RetryBudgetPolicy policy_;
  const double floor_;
  const int64_t slot_nanos_;
  const int workers_;
  const std::unique_ptr<Shard[]> shards_;
  SuccessRegister attempts_;
  SuccessRegister retries_;
  RetryCredit credit_;
  std::atomic<int64_t> waiting_{0};
};

}  // namespace levee
