// SPDX-License-Identifier: Apache-2.0
// Rate limits: GCRA, exact across workers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/event_rate.h"
#include "policy/gcra.h"
#include "policy/lease_request.h"
#include "policy/limit_key.h"
#include "policy/permit_lease.h"
#include "policy/rate_limit_policy.h"

namespace levee {

class RateLimiter;

// Asks the stores of shared limits. The interface inverts a dependency: its implementation needs
// the network, and so lies above policy/.
class LeaseSource {
 public:
  // Identifies a bucket of a limit.
  struct Bucket {
    std::weak_ptr<RateLimiter> limiter;
    std::string key;             // the text of the key
    bool shared_bucket = false;  // of the keys that have none of their own
  };

  // Makes a request of the bucket's store, and tells the answer to the limiter: OnGrant or OnLost,
  // once, in whatever thread. Any thread; does not wait.
  virtual void Ask(Bucket bucket, const LeaseRequest& request) = 0;

 protected:
  ~LeaseSource() = default;
};

// One configured limit with all its buckets, shared by all workers. Any thread.
//
// Each bucket is the generic cell rate algorithm (GCRA, ITU-T I.371, annex A, as a virtual
// scheduling algorithm): one number, the theoretical arrival time, moves one emission interval
// (1 / rate) ahead per permit and may be at most `burst` intervals ahead of now. Hence in any span
// at most burst + rate x span permits become due, however many workers take them. With key
// each key has a bucket of its own, up to max_keys of them; when they are all in use, further keys
// share one bucket. An adaptive limit adjusts each bucket's rate by itself. A limit that several
// sidecars share leases its permits from a store (PermitLease). Only the limits without any of
// these take no lock; the others take one for the time of one decision.
class RateLimiter : public std::enable_shared_from_this<RateLimiter> {
 public:
  // `leases`: of a limit that is shared, and outlives it. nullptr: no other sidecar shares it.
  explicit RateLimiter(const RateLimitPolicy& policy, LeaseSource* leases = nullptr);
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

  // A request that was made for a bucket of this limit has its answer, or has none. Return whether
  // calls wait for it.
  bool OnGrant(const LeaseSource::Bucket& bucket, const LeaseGrant& grant, Instant now);
  bool OnLost(const LeaseSource::Bucket& bucket, Instant now);

  // How many sidecars share the limit, at least 1; 1 until it is known.
  void SetSidecars(int count) { sidecars_.store(count, std::memory_order_relaxed); }
  int sidecars() const { return sidecars_.load(std::memory_order_relaxed); }

  // Returns who decides: the store, as its last answer says, or this sidecar. Of a shared limit.
  PermitLease::State LeaseState(Instant now) const;

  // A shared limit as it is in this sidecar, all its buckets together.
  struct View {
    PermitLease::State state = PermitLease::State::kLeased;
    // Permits per second that the sidecar got lately, without those that it gave back.
    double granted_per_second = 0;
    int keys = 0;  // that have a bucket
    // Of all buckets; nullopt: there are more than kMostLookedAt.
    std::optional<LeaseHolding> holding;
  };
  static constexpr int kMostLookedAt = 10'000;

  // Of a shared limit. Takes as long as there are buckets: it is for people who look.
  View ViewAt(Instant now) const;

  const RateLimitPolicy& policy() const { return policy_; }

 private:
  class Buckets;

  Permit Asked(const LimitKey& key, const Permit& permit, Instant now);
  void CountGranted(int64_t permits, Instant now);

  const RateLimitPolicy policy_;
  LeaseSource* const leases_;
  const std::unique_ptr<Buckets> buckets_;
  std::atomic<int> sidecars_ = 1;
  std::atomic<bool> was_leased_ = false;
  std::atomic<int64_t>
      away_since_;  // of the store, in nanoseconds; the largest number: it is there
  mutable std::mutex granted_mutex_;
  EventRate granted_{absl::Seconds(5)};
};

// The answer of all limits of a policy for one call.
struct RateAdmission {
  static constexpr int kNone = -1;

  int refused_by = kNone;  // index of the limit that refuses it, kNone: admitted
  // Admitted: how long to wait first, and the index of the limit that makes it wait longest (kNone:
  // no wait). Refused: until that limit's next permit.
  absl::Duration wait = absl::ZeroDuration();
  int delayed_by = kNone;
  // Not refused for good: the limit `refused_by` knows its answer when its store has answered. Ask
  // again then.
  bool awaits_lease = false;
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
