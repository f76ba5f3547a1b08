// SPDX-License-Identifier: Apache-2.0
// The last calls that were retried or refused, for people who ask what happened.
#pragma once

#include <algorithm>
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

struct RememberedCall {
  absl::Time start;  // the wall clock's, at the record's start
  CallRecord record;
  std::vector<std::string> endpoints;  // of its attempts, in order; empty: none was reached
  std::string listener, upstream, authority, method, message, trace_id;
};

// A ring of bounded size. Any thread may call any function. Workers add only calls that were
// retried or refused, and only as often as their RecentCallsGate allows.
class RecentCalls {
 public:
  static constexpr size_t kKept = 100;

  // Whether anybody can read the calls; true from the start. While nobody can, workers add nothing,
  // and the calls that are kept stay.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Whether an ended call is to be remembered: it had more than one attempt, or a retry of it or
  // the call itself was refused.
  static bool Wants(const CallRecord& record);

  // Adds a call. `facts` are those of the access log, with the start. The strings are copied into
  // the memory of the call that the ring forgets, so after a while no memory is allocated.
  void Add(const AccessLogFacts& facts, const CallRecord& record,
           AccessLogFormatter::EndpointNames endpoint_name);

  // Returns the calls that ended after `after`, the oldest first. Workers may add calls in the
  // meantime; a worker never waits longer than the copy of one call takes.
  std::vector<RememberedCall> Read(Instant after) const;

 private:
  std::atomic<bool> enabled_ = true;
  mutable std::mutex mutex_;
  uint64_t added_ = 0;                 // since the start: the number of the next one
  std::vector<RememberedCall> calls_;  // number n is at n % kKept
};

// Decides which of one worker's calls are added to the ring. In a storm nearly every call would be
// remembered, each at the cost of a lock and a copy, and the ring would be overwritten many times a
// second. Therefore a worker may add kKept calls at once, and after that kKept calls a second,
// evenly spread. One thread.
class RecentCallsGate {
 public:
  // Whether a call that ended at `now`, which never goes backward, may be added; counts it if so.
  bool Admit(Instant now) {
    free_at_ = std::max(free_at_, now - (kPeriod - kSpacing));
    if (free_at_ > now) return false;
    free_at_ = free_at_ + kSpacing;
    return true;
  }

 private:
  static constexpr absl::Duration kPeriod = absl::Seconds(1);
  static constexpr absl::Duration kSpacing = absl::Milliseconds(1000 / RecentCalls::kKept);

  // The instant at which the next call may be added if all were added at even distances.
  Instant free_at_;
};

// Returns one sentence that says what was done for the call, and why no more was done: "retried
// twice after UNAVAILABLE; the third attempt was OK", "failed with UNAVAILABLE; not retried: budget
// used up".
std::string WhyOf(const CallRecord& record);

}  // namespace levee
