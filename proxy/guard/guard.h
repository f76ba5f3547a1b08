// SPDX-License-Identifier: Apache-2.0
// The guard of one service: how many calls it works on, which ones wait, and which are refused.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "guard/guard_queue.h"
#include "guard/limit_rule.h"
#include "guard/load_meter.h"
#include "guard/lone_calls.h"
#include "guard/reported_retries.h"
#include "policy/guard_policy.h"
#include "policy/retry_distribution.h"
#include "wire/overload_mark.h"
#include "wire/refusal.h"

namespace levee {

// Why a call is refused.
struct GuardRefusal {
  GuardReason reason = GuardReason::kConcurrency;
  OverloadScope scope = OverloadScope::kEndpoint;
  absl::Duration pushback;  // when a slot is likely; at least a millisecond
};

// Gets the answer of a call that waits, or that has a slot on loan. It inverts a dependency: calls
// know the guard.
class GuardClient {
 public:
  // The call has a slot.
  virtual void OnSlot(Instant now) = 0;
  // Also of a call whose slot was lent, and is needed by another.
  virtual void OnGuardRefused(const GuardRefusal& refusal, Instant now) = 0;

 protected:
  ~GuardClient() = default;
};

// Where a call stands that waits, or has a slot on loan. Not destroyed meanwhile (Guard::Withdraw).
class GuardPlace final : private QueuedCall, private ListLink<GuardPlace> {
 public:
  GuardPlace(GuardClient& client, int worker) : client_(client), worker_(worker) {}

 private:
  friend class Guard;
  friend class IntrusiveList<GuardPlace>;
  enum class State { kIdle, kQueued, kLent, kAdmitted, kRefused };

  GuardClient& client_;
  const int worker_;
  State state_ = State::kIdle;  // kAdmitted, kRefused: the answer is on its way
  GuardRefusal refusal_;
};

// Returns the rule for the limit of `policy`; nullptr if that stays as it is.
std::unique_ptr<LimitRule> RuleOf(const ConcurrencyPolicy& policy);

// The state of a guard at a moment.
struct GuardView {
  int limit = 0;  // 0: there is none
  int least = 0;  // what an adaptive limit does not go below; 0: it is not adaptive
  int in_flight = 0;
  int streams = 0;  // of these
  int waiting = 0;
  bool stands = false;  // the queue does
  bool observes = false;
  OverloadScope scope = OverloadScope::kEndpoint;  // that a refusal has
  AttemptCounts arrivals{};
  ReportedCalls reported;  // by callers' sidecars
};

// Shared by all workers; any thread, but functions that take a worker only in the thread of that
// worker. A call that finds a slot, and gives it back, takes no lock while none waits.
//
// It is without clock: workers tell it the time. A worker is woken by its `wake` when an answer for
// one of its calls may be there. Above 30 functions: slots without a lock and the queue under one
// decide together. Above 20 data members: for the same reason.
class Guard {
 public:
  // `workers`: at least 1. `rule` gives the limit of a policy that wants an adaptive one.
  Guard(const GuardPolicy& policy, int workers)
      : Guard(policy, workers, RuleOf(policy.concurrency)) {}
  Guard(const GuardPolicy& policy, int workers, std::unique_ptr<LimitRule> rule);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // The number of a method, for Leave. There are kMethods; methods without one share kMethods. A
  // caller can make paths up, so a method is named only once the service has shown that it has it.
  static constexpr int kMethods = 64;
  static constexpr size_t kMaxPath = 257;  // a longer one has no number
  int MethodNumber(const std::string& path) const;
  int NameMethod(const std::string& path);

  // `wake` wakes `worker`. It is called in any thread, without a lock of the guard. To be set
  // before the first call of that worker.
  void SetWake(int worker, std::function<void()> wake);

  // A call has arrived that has been tried `previous` times before. Returns whether it has a slot;
  // if not, it is for Enter.
  bool TryEnter(int worker, int previous, Instant now);

  // A call found no slot. It is refused if there is a refusal. Else it has a slot if `waits` is
  // false, and its client gets the answer by Answer if that is true.
  struct Entry {
    bool waits = false;
    std::optional<GuardRefusal> refusal;
    Instant look_at = Instant::Infinite();  // where it waits: Answer is due then at the latest
  };
  Entry Enter(GuardPlace& place, GuardRank rank, Instant start_by, Instant now);

  // A call whose request has not come has arrived, as for TryEnter. It gets a slot on loan, or is
  // refused. The guard takes the slot back as soon as a call waits that finds none.
  std::optional<GuardRefusal> Lend(GuardPlace& place, int previous, Instant now);

  // The request has come. Returns whether the slot is the call's own from now on; if not, the guard
  // has taken it back, and the client gets the answer by Answer.
  bool Keep(GuardPlace& place);

  // So many more calls that hold slots are known to be streams.
  void CountStream(int more) { streams_.fetch_add(more, std::memory_order_relaxed); }

  // Whether no unary call of the method has ended yet. Methods without a number are new, unless
  // there are too many.
  bool IsNew(int method) const {
    return !ended_[static_cast<size_t>(method)].load(std::memory_order_relaxed);
  }

  // So many more unary calls of new methods hold slots.
  void CountNew(int more) { new_.fetch_add(more, std::memory_order_relaxed); }

  // Returns the limit, or 0 if there is none, and how many slots streams hold.
  struct Slots {
    int limit = 0;
    int streams = 0;
  };
  Slots GetSlots() const;

  // Says how many of its calls may go on without their callers.
  LoneCalls& lone_calls() { return lone_calls_; }

  // A call gives its slot back. `took`: how long the service took for it, if it was a unary call
  // that was answered, or, with `cut`, that the service had not answered at its deadline.
  void Leave(int worker, int method, std::optional<absl::Duration> took, Instant now,
             bool cut = false);

  // A caller's sidecar reports its retries. `calls`: those of its connection since the last report.
  void Report(const RetryReport& report, int64_t calls, Instant now);

  // A call has ended, and has given its slot back if it had one. Returns the load of the service,
  // for GuardPolicy::load_report; its utilization is 0 where no limit is known.
  LoadReport EndLoad(bool failed, Instant now);

  // The call waits no more, or gives a loan back. The client gets no answer afterwards, and a slot
  // that it had, or that was on its way, is free again.
  void Withdraw(GuardPlace& place, Instant now);

  // Tells the clients of `worker` what was decided. Returns when it is to be called again at the
  // latest; Infinite: when it is woken.
  Instant Answer(int worker, Instant now);

  GuardView View(Instant now);
  const GuardPolicy& policy() const { return policy_; }

 private:
  struct Worker;
  // The sums of what the workers have counted so far.
  struct Sums {
    std::vector<MethodSamples> samples;  // by method, also those without a call
    std::vector<MethodSamples> cut;      // of those that their deadlines cut short
    int64_t arrived = 0;                 // calls
    int64_t refused = 0;                 // of these
    int64_t found = 0;                   // calls that they found in the service, together
  };
  using WorkerList = absl::InlinedVector<Worker*, 4>;

  Worker& WorkerOf(int worker) const { return *workers_[static_cast<size_t>(worker)]; }
  bool TakeSlot();
  void Settle(Instant now, WorkerList& wake);
  bool TakeBackLoan(Instant now, WorkerList& wake);
  void Decide(GuardPlace& place, GuardPlace::State state, WorkerList& wake);
  static void Wake(const WorkerList& wake);
  void LetNextGo(Instant now);
  Instant NextDue() const;
  GuardRefusal Refusal(GuardReason reason, Instant now);
  OverloadScope ScopeNow(const AttemptCounts& arrivals, Instant now);
  AttemptCounts Arrivals(Instant now) const;
  Sums SumUp() const;
  std::vector<MethodSamples> Difference(const Sums& sums) const;
  void MayEndWindow(Instant now);
  void EndWindow(Instant now);
  void BeginWindow(const LimitStep& step, Instant now);

  const GuardPolicy policy_;
  std::vector<std::unique_ptr<Worker>> workers_;  // as many at all times

  LoadMeter load_;
  LoneCalls lone_calls_;
  alignas(64) std::atomic<int> in_flight_{0};
  // As in queue_. A call that comes while others wait does not overtake them.
  std::atomic<int> waiting_{0};
  // Written rarely, read by every call.
  alignas(64) std::atomic<int> limit_;
  std::atomic<int64_t> sampled_from_;  // nanoseconds; what happens later is sampled
  std::atomic<int64_t> window_end_;    // nanoseconds
  std::atomic<bool> full_{false};      // a call found no slot in the window
  std::atomic<int> streams_{0};        // that hold slots
  std::atomic<int> new_{0};            // unary calls of new methods that hold slots
  std::array<std::atomic<bool>, kMethods + 1> ended_{};  // by the method's number

  mutable std::mutex mutex_;  // of all that follows
  GuardQueue queue_;
  int64_t refused_ = 0;              // calls that had waited
  IntrusiveList<GuardPlace> lent_;   // the longest loan first
  std::unique_ptr<LimitRule> rule_;  // null: the limit stays as it is
  absl::Duration measure_;
  Sums before_;  // when the window began
  absl::flat_hash_map<std::string, int> methods_;
  ReportedRetries reported_;
  OverloadScope scope_ = OverloadScope::kEndpoint;
  Instant scope_until_;  // it is looked at again
};

}  // namespace levee
