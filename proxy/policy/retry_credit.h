// SPDX-License-Identifier: Apache-2.0
// The credit of retries: a retry is paid for by a success.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/slot_ring.h"

namespace levee {

struct RetryCreditPolicy {
  double ratio = 0.1;                      // of a credit, earned by each success; at least 0
  double least = 2;                        // credits, at least 0
  absl::Duration span = absl::Seconds(1);  // above zero
  friend bool operator==(const RetryCreditPolicy&, const RetryCreditPolicy&) = default;
};

// The credit of one destination, shared by all workers. A retry needs a credit of 1 and takes its
// price, which is 1 or more. A retry that succeeds may give the price back, so retries that work
// are free. Every other success earns `ratio`; a failure earns nothing. There is never more than
//
//     cap = max(least, ratio x calls of the last span),
//
// and the credit starts full. So whatever a fault does, only about `ratio` times one span's calls
// are retried in vain before successes have to pay.
//
// What is kept is the debt, the credits that are missing to the cap. So the healthy case, no debt,
// only reads, and the cap is worked out only for a retry and for a success that repays. A debt
// above the cap remains when the load has fallen, or a price was above what was left. Each success
// takes its share of what is above: all of it would be too much, since random arrivals lower the
// cap for a moment again and again.
//
// The calls of the span are counted in kSlots slots of it; the current slot counts in addition to
// the last kSlots full ones.
//
// A credit comes back every kForgivenIn, too, for callers who call so rarely that nothing else
// would ever earn it.
//
// Exact without a lock: each change of the debt is one compare-and-swap, so two workers never take
// the last credit both. With `ratio` 0 nothing could ever be earned: then the rule allows
// everything and leaves the bound to the budget's floor.
class RetryCredit {
 public:
  // `workers`: number of shards, at least 1.
  RetryCredit(const RetryCreditPolicy& policy, int workers);
  ~RetryCredit();
  RetryCredit(const RetryCredit&) = delete;
  RetryCredit& operator=(const RetryCredit&) = delete;

  // Raises `least`, if it is lower. Any thread.
  void RaiseLeast(double least);

  // A first attempt was started. Only from the thread of `worker` (0-based).
  void OnCall(int worker, Instant now);

  // If there is a credit of 1, takes `price`, at least 1, and returns true. A price above 1 needs a
  // credit of 2, or all of it where the cap is less. Any thread; so too the others.
  bool Take(Instant now, int price = 1);

  // Gives a price back that was not used after all.
  void GiveBack(int price = 1);

  // An attempt succeeded; `refund`: it is a retry that gives back the `price` that it took.
  void OnSuccess(bool refund, Instant now, int price = 1);

  // Returns the credit that is left, at least 0; infinite with `ratio` 0.
  double Available(Instant now) const;

  // Returns the cap; infinite with `ratio` 0.
  double Full(Instant now) const;

 private:
  static constexpr int kSlots = 10;
  static constexpr int64_t kCredit = 1'000'000'000;  // the debt is counted in billionths
  static constexpr absl::Duration kForgivenIn = absl::Minutes(10);
  struct Shard;

  void Forgive(Instant now);
  // Returns what of the debt time has forgiven since the last Forgive.
  int64_t Forgiven(Instant now) const;

  // Returns the number of calls of the last span.
  int64_t Calls(Instant now) const;
  int64_t Cap(int64_t calls) const;

  const RetryCreditPolicy policy_;
  std::atomic<double> least_;
  const int64_t earned_;  // by a success
  const int64_t slot_nanos_;
  const int workers_;
  const std::unique_ptr<Shard[]> shards_;
  std::atomic<int64_t> debt_{0};
  std::atomic<int64_t> forgiven_at_{0};  // nanoseconds of an Instant; while there is debt
};

}  // namespace levee
