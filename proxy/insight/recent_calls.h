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

// A ring of bounded size. Any thread; workers come here only with calls that were retried or
// refused, and only as often as their RecentCallsGate allows.
class RecentCalls {
 public:
  static constexpr size_t kKept = 100;

  // Whether anybody can ask for them, which is so from the start. If nobody can, workers add
  // nothing; what is kept stays.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Whether an ended call is one to remember: it had more than one attempt, or a retry or the call
  // itself was refused.
  static bool Wants(const CallRecord& record);

  // `facts` as for the access log, with its start. In the long run its strings need no memory: they
  // take the place of those that the ring forgets.
  void Add(const AccessLogFacts& facts, const CallRecord& record,
           AccessLogFormatter::EndpointNames endpoint_name);

  // Those that ended after `after`, the oldest first. Workers may add in the meantime: at no time
  // do they wait for more than the copy of one call.
  std::vector<RememberedCall> Read(Instant after) const;

 private:
  std::atomic<bool> enabled_ = true;
  mutable std::mutex mutex_;
  uint64_t added_ = 0;                 // since the start: the number of the next one
  std::vector<RememberedCall> calls_;  // number n is at n % kKept
};

// One worker's door to the ring. In a storm nearly every call is one to remember, and the ring
// would be overwritten many times a second, at a lock and a copy each: a worker adds as many as fit
// at once, and after that the share that a second spread evenly would have. One thread.
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

  // When the next place would be free, had all been taken at their time.
  Instant free_at_;
};

// One sentence: what was done for the call and why no more. "retried twice after UNAVAILABLE; the
// third attempt was OK", "failed with UNAVAILABLE; not retried: budget used up".
std::string WhyOf(const CallRecord& record);

}  // namespace levee
