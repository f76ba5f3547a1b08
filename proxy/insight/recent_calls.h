// SPDX-License-Identifier: Apache-2.0
// The last calls that were retried or refused, for people who ask what happened.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "insight/access_log.h"
#include "wire/call_record.h"

namespace levee {

// How calls that are remembered ended. Each kind is sampled on its own, so that many calls of one
// kind leave room for those of another.
enum class RememberedKind {
  kRescued,  // OK
  kLimited,  // refused by a rate limit
  kRefused,  // a retry of it, or the call as a retry of the application, was refused
  kGuarded,  // refused by the guard
  kFailed,   // every attempt failed, and no retry was refused
};

inline constexpr size_t kRememberedKinds = 5;

// Returns the kind of a call that RecentCalls::Wants.
constexpr RememberedKind KindOf(const CallRecord& record) {
  if (record.code == StatusCode::kOk) return RememberedKind::kRescued;
  if (record.rate_limit.refused_by >= 0) return RememberedKind::kLimited;
  if (record.guard.decision == GuardDecision::kRefused) return RememberedKind::kGuarded;
  const bool refused = record.refused.has_value() || record.app_retry_refused;
  return refused ? RememberedKind::kRefused : RememberedKind::kFailed;
}

// Decides which calls are remembered. Of each kind, the first kAtOnce calls are, and after these
// one call a second. In a storm nearly every call would be remembered, each at the cost of a lock
// and a copy, and a second of them would push out all that came before. One thread at a time.
class RecentCallsGate {
 public:
  static constexpr int kAtOnce = 20;
  static constexpr absl::Duration kSpacing = absl::Seconds(1);

  // Whether a call of the kind `kind` that ended at `now` may be added; counts it if so. The gate
  // takes a `now` before that of an earlier call for that of the earlier call.
  bool Admit(RememberedKind kind, Instant now) {
    Instant& free_at = places_[static_cast<size_t>(kind)].free_at;
    free_at = std::max(free_at, now - (kAtOnce - 1) * kSpacing);
    if (free_at > now) return false;
    free_at = free_at + kSpacing;
    return true;
  }

 private:
  struct Place {
    // The instant at which the next call may be added if all were added at even distances. No call
    // ends before instant 0.
    Instant free_at = Instant() - kAtOnce * kSpacing;
  };
  std::array<Place, kRememberedKinds> places_;
};

struct RememberedCall {
  uint64_t id = 0;   // 1 for the first call that was remembered, 2 for the next one
  absl::Time start;  // the wall clock's, at the record's start
  CallRecord record;
  std::vector<std::string> endpoints;  // of its attempts, in order; empty: none was reached
  std::string listener, upstream, authority, method, message, trace_id;
};

// A ring of bounded size, which holds at least all calls that were remembered in the last five
// minutes. Any thread may call any function. Workers add only calls that were retried or refused,
// and only those that their own RecentCallsGate admits; the ring has one more for all workers.
class RecentCalls {
 public:
  // As many calls as a RecentCallsGate admits in five minutes.
  static constexpr size_t kKept = kRememberedKinds * (RecentCallsGate::kAtOnce + 300);
  // Longer texts of a call are cut to so many bytes: a little more than readers are shown.
  static constexpr size_t kTextBytes = 1024 + 4;

  // Whether anybody can read the calls; true from the start. While nobody can, workers add nothing,
  // and the calls that are kept stay.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Whether an ended call is to be remembered: it had more than one attempt, or a retry of it
  // waited, or one or the call itself was refused.
  static bool Wants(const CallRecord& record);

  // Adds a call if the gate admits it. `facts` are those of the access log, with the start. The
  // strings are copied into the memory of the call that the ring forgets, so after a while no
  // memory is allocated.
  void Add(const AccessLogFacts& facts, const CallRecord& record,
           AccessLogFormatter::EndpointNames endpoint_name);

  // Returns the calls whose id is larger than `after`, the oldest first. Workers may add calls in
  // the meantime; a worker never waits longer than the copy of one call takes.
  std::vector<RememberedCall> Read(uint64_t after) const;

 private:
  std::atomic<bool> enabled_ = true;
  mutable std::mutex mutex_;
  RecentCallsGate gate_;
  uint64_t added_ = 0;                 // since the start
  std::vector<RememberedCall> calls_;  // the call of id n is at (n - 1) % kKept
};

// Returns one sentence that says what was done for the call, and why no more was done: "retried
// twice after UNAVAILABLE; the third attempt was OK", "failed with UNAVAILABLE; not retried: budget
// used up".
std::string WhyOf(const CallRecord& record);

}  // namespace levee
