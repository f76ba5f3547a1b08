// SPDX-License-Identifier: Apache-2.0
// Adaptive throttling: first attempts that an overloaded upstream has no room for are not sent.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "wire/refusal.h"

namespace levee {

enum class ThrottleMode { kObserve, kEnforce };

// `throttle.on`: which ends of attempts say that the upstream is overloaded.
struct OverloadSigns {
  bool mark = true;                 // the overload mark, scope service; not a bare pushback
  bool timeout = true;              // attempt_timeout, or the call's deadline, passed
  bool resource_exhausted = false;  // ended with this code
  bool unavailable = false;         // ended with this code
  friend std::partial_ordering operator<=>(const OverloadSigns&, const OverloadSigns&) = default;
};

struct ThrottlePolicy {
  double k = 2;                              // at least 1
  absl::Duration window = absl::Seconds(3);  // above zero
  int min_calls = 20;                        // at least 1
  OverloadSigns on;
  ThrottleMode mode = ThrottleMode::kObserve;
  friend std::partial_ordering operator<=>(const ThrottlePolicy&, const ThrottlePolicy&) = default;
};

// The throttle of one destination, shared by all workers. It rejects a call with probability
//
//     max(0, (requests - k x accepts) / (requests + 1))
//
// (Beyer et al., "Site Reliability Engineering", 2016, chapter "Handling Overload"). `accepts`:
// ends of attempts in the last window that do not say "overloaded". `requests`: all ends of
// attempts in it, and the calls that were rejected in it. With fewer than min_calls requests, or
// without a sign of overload, nothing is rejected. One call a second is sent whatever the
// probability is, so that a recovery is seen.
//
// Once a call of the latest slots was accepted, and none of them said "overloaded", the probability
// is that of the latest slots, if it is lower. By the window alone an upstream that is back would
// get twice as many calls only after half a window each time, so nine seconds would pass from one
// call a second to 320. By the latest slots it takes two.
//
// A call counts when its fate is known, and not when it begins: calls that wait for their answers,
// and streams that stay open, say nothing about overload.
//
// A throttle that observes decides in the same way, but the call is sent (kObserved), and counts by
// how it ends.
//
// The window is kept in kSlots slots; the current slot counts in addition to the last kSlots full
// ones. Each worker counts in a shard of its own, with relaxed writes. While no attempt of the
// window says "overloaded", a decision is one comparison; only otherwise are all shards added up.
// There is no lock: a decision may miss what another worker counts at the same moment, but nothing
// is lost or counted twice.
class AdaptiveThrottle {
 public:
  // `workers`: number of shards, at least 1.
  AdaptiveThrottle(const ThrottlePolicy& policy, int workers);
  ~AdaptiveThrottle();
  AdaptiveThrottle(const AdaptiveThrottle&) = delete;
  AdaptiveThrottle& operator=(const AdaptiveThrottle&) = delete;

  // Decides on a call that is about to begin. Only from the thread of `worker` (0-based); likewise
  // OnEnd. `random` is drawn from only if the probability is above zero.
  ThrottleDecision Decide(int worker, Random& random, Instant now) {
    const bool quiet = now.nanos() >= quiet_from_.load(std::memory_order_relaxed);
    return quiet ? ThrottleDecision::kAdmitted : DecideInTrouble(worker, random, now);
  }

  // An attempt ended. `overload`: its end says that the upstream is overloaded (policy().on).
  void OnEnd(int worker, bool overload, Instant now);

  // Returns the probability, 0 to below 1, with which a call is rejected now. Any thread.
  double Probability(Instant now) const;

  const ThrottlePolicy& policy() const { return policy_; }

 private:
  static constexpr int kSlots = 10;
  static constexpr uint64_t kLatestSlots = 1;  // beside the current one
  struct Shard;

  struct Counts {
    int64_t accepts = 0;
    int64_t overloads = 0;
    int64_t rejected = 0;
  };

  // Returns the counts of `slot` and the `before` slots before it.
  Counts Count(uint64_t slot, uint64_t before) const;
  // Returns the share of the requests that are too many for the accepts.
  double Surplus(const Counts& counts) const;

  ThrottleDecision DecideInTrouble(int worker, Random& random, Instant now);
  void NoteTrouble(Instant now);
  bool TakeProbe(Instant now);

  const ThrottlePolicy policy_;
  const int64_t slot_nanos_;
  const int workers_;
  const std::unique_ptr<Shard[]> shards_;
  // When the last sign of overload and the last rejection have left the window, in nanoseconds.
  // Before this instant the probability may be above zero.
  alignas(64) std::atomic<int64_t> quiet_from_{0};
  std::atomic<int64_t> next_probe_{0};  // in nanoseconds
};

}  // namespace levee
