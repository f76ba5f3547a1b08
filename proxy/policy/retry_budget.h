// SPDX-License-Identifier: Apache-2.0
// The retry budget, which keeps retries from becoming the outage.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/failure_run.h"
#include "policy/retry_credit.h"
#include "policy/success_register.h"

namespace levee {

// The retries that a destination has to spare where its policy says no other number (burst.least):
// what one call may need, within limits.
constexpr double SpareRetries(int max_attempts) { return std::clamp(max_attempts - 1, 2, 3); }

struct RetryBudgetPolicy {
  double ratio = 0.1;                         // retries per call, at least 0
  absl::Duration window = absl::Seconds(10);  // above zero
  double floor_per_second = 1;                // at least 0; 0: no floor
  double floor_min_success = 0.8;             // 0 to 1
  double burst_least = 2;                     // at least 0
  bool burst_follows = false;  // burst_least is SpareRetries, and no number of the policy's own
  absl::Duration burst_span = absl::Seconds(1);    // above zero
  absl::Duration wait = absl::Milliseconds(1100);  // of a retry, for a success; zero: none
  friend std::partial_ordering operator<=>(const RetryBudgetPolicy&,
                                           const RetryBudgetPolicy&) = default;
};

// How an attempt ended.
struct AttemptEnd {
  bool success = false;
  bool timeout = false;         // by attempt_timeout, or by the call's deadline
  bool refused_stream = false;  // REFUSED_STREAM
  int price = 0;                // that was paid for it; 0: nothing, it is no retry
};

// One budget, of one destination, shared by all workers. A retry is paid for iff successes have
// earned it (RetryCredit, which bounds each moment) and
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
// Where nothing but failures has come since a call's first one, what pays for its retries may be
// needed in a moment, when the destination is back. So there `most` retries start at most until the
// next success, where most is burst_least, at least 1; all but one of them at once, and the last
// one not before `wait` has passed since the first failure. Meanwhile the others wait for a success
// (call/waiting_retries.h).
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

  // A policy whose calls share the budget has more retries to spare. Any thread.
  void RaiseBurst(double least);

  // Takes one retry out and returns true if the rule above pays for it, whatever has failed. A
  // refusal changes nothing. `price`: in credits, at least 1.
  bool Withdraw(int worker, Instant now, int price = 1);

  // A retry behind a failure that may be short.
  struct Wish {
    Instant first_failed;  // when the first attempt of its call failed
    bool last = false;     // of two or more that the call may make
  };
  enum class Turn {
    kGo,       // it is paid for
    kWait,     // it may wait for a success
    kRefused,  // it gets nothing
  };
  // Decides on such a retry, and takes it out if it goes. Thread as Withdraw.
  Turn Ask(int worker, const Wish& wish, Instant now);

  // As Ask, of a retry that has waited. It may be the last one of its run of failures.
  bool Release(int worker, Instant first_failed, Instant now);

  // Whether the calls of the window pay for another retry, whatever the credit is. Any thread.
  bool WindowPays(Instant now) const { return LeftInWindow(now) >= 1; }

  // Whether nothing but failures has come since `first_failed`. Any thread; likewise below.
  bool OnlyFailuresSince(Instant first_failed) const { return run_.since() <= first_failed; }

  // Until when retries wait for the present run of failures to end; Infinite: the last attempt
  // succeeded.
  Instant WaitsUntil() const { return run_.since() + policy_.wait; }

  void RecordEnd(const AttemptEnd& end, Instant now);  // An attempt ended.

  // Whether at least half of the last attempts were refused by REFUSED_STREAM. Until then sending a
  // stream again that was not processed is free.
  bool RefusesStreams() const { return streams_.SuccessRate() <= 0.5; }

  // The price of a retry behind a timeout, in credits. One that fails alone costs what any failure
  // does. Where other calls have timed out, too, the upstream has more work than it can do, and may
  // still be at work on the call. `own`: the timeouts of this call.
  int PriceOfTimeout(int own) const { return timeouts_.Failures() > own ? 10 : 1; }

  // A retry begins to wait (1), or does not wait any longer (-1). Any thread.
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
  struct Shard;

  // The sums over all shards, as seen from one slot.
  struct Totals {
    int64_t calls = 0;
    int64_t retries = 0;
    uint64_t newest = 0;  // the newest slot in which there is a retry
  };

  bool WithdrawFromWindow(int worker, Instant now);
  bool WithdrawInRun(int worker, int most, Instant now);
  // Returns the slot of `now`, or a newer one if some worker has reached it, so that all workers
  // look at one window.
  uint64_t NewestSlot(Instant now) const;
  // Returns the sums over `slot` and the kSlots before it.
  Totals Sum(uint64_t slot) const;
  bool FloorWithheld() const;
  bool RetriesAreFree() const;
  double Limit(int64_t calls) const;
  double LeftInWindow(Instant now) const;

  const RetryBudgetPolicy policy_;
  std::atomic<int> most_;  // retries in a run of failures
  const double floor_;
  const int64_t slot_nanos_;
  const int workers_;
  const std::unique_ptr<Shard[]> shards_;
  SuccessRegister attempts_;
  SuccessRegister retries_;
  SuccessRegister timeouts_;  // a failure is a timeout
  SuccessRegister streams_;   // a failure is REFUSED_STREAM
  FailureRun run_;
  RetryCredit credit_;
  std::atomic<int64_t> waiting_{0};
};

}  // namespace levee
