// SPDX-License-Identifier: Apache-2.0
// Rate limits: GCRA, exact across workers.
#pragma once

#include <memory>
#include <span>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/gcra.h"
#include "policy/limit_key.h"
#include "policy/rate_limit_policy.h"

namespace levee {

// One configured limit with all its buckets, shared by all workers. Any thread.
//
// Each bucket is the generic cell rate algorithm (GCRA, ITU-T I.371, annex A, as a virtual
// scheduling algorithm): one number, the theoretical arrival time, moves one emission interval
// (1 / rate) ahead per permit and may be at most `burst` intervals ahead of now. Hence in any span
// at most burst + rate x span permits become due, however many workers take them. With key
// each key has a bucket of its own, up to max_keys of them; when they are all in use, further keys
// share one bucket. An adaptive limit adjusts each bucket's rate by itself. Only keyed and adaptive
// limits take a lock, for the time of one decision.
class RateLimiter {
 public:
  explicit RateLimiter(const RateLimitPolicy& policy);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  using Permit = RatePermit;

  // Takes a permit out of the bucket of `key` (ignored by a limit without key) if it is due within
  // `max_wait`; a refusal changes nothing. Permits of one bucket become due in the order in which
  // they were taken. `now` may lag behind what other workers passed.
  Permit Take(const LimitKey& key, Instant now, absl::Duration max_wait);

  // Returns the answer of Take, without taking anything.
  Permit Check(const LimitKey& key, Instant now, absl::Duration max_wait);

  // Gives back a permit that was taken a moment ago and not used, because another limit refused the
  // call. It is as if it had not been taken. But if other calls have taken permits of the same
  // bucket since then, their due times stand, and the permit is lost.
  void Return(const LimitKey& key, const Permit& permit);

  // An attempt of a call that this limit admitted, started at `attempt_start`, was answered with
  // RESOURCE_EXHAUSTED. Lowers an adaptive limit's rate, once for all attempts that were under way.
  void OnOverloaded(const LimitKey& key, Instant attempt_start, Instant now);

  const RateLimitPolicy& policy() const { return policy_; }

 private:
  class Buckets;

  const RateLimitPolicy policy_;
  const std::unique_ptr<Buckets> buckets_;
};

// The answer of all limits of a policy for one call.
struct RateAdmission {
  static constexpr int kNone = -1;

  int refused_by = kNone;  // index of the limit that refuses it, kNone: admitted
  // Admitted: how long to wait first, and the index of the limit that makes it wait longest (kNone:
  // no wait). Refused: until that limit's next permit.
  absl::Duration wait = absl::ZeroDuration();
  int delayed_by = kNone;
  // A limit had no bucket left for the call's key (max_keys) and decided by the shared one.
  bool shared_bucket = false;
};

// Returns the answer of AdmitCall, without taking anything.
RateAdmission CheckCall(std::span<RateLimiter* const> limits, std::span<const LimitKey> keys,
                        Instant now, absl::Duration time_left);

// Takes a permit of each limit, or of none. `keys`: one per limit. No permit is taken that becomes
// due `time_left` from now or later: the call's deadline would have passed. Each limit's own
// max_wait applies to its permit; the call waits for the latest of them.
//
// A refused call takes no permit, not even for a moment, so that refused calls take nothing away
// from the calls that pass. The exception is a race: another worker may take a limit's last permit
// between the question and the taking.
RateAdmission AdmitCall(std::span<RateLimiter* const> limits, std::span<const LimitKey> keys,
                        Instant now, absl::Duration time_left);

}  // namespace levee
