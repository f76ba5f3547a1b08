// SPDX-License-Identifier: Apache-2.0
// The bucket of a shared rate limit, in one sidecar.
#pragma once

#include <mutex>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/gcra.h"
#include "policy/permit_lease.h"
#include "policy/service_lease.h"

namespace levee {

// A lease, PermitLease or ServiceLease, that several threads use, as a bucket of a BucketTable. Any
// thread, with a lock for the time of one decision. All calls of a bucket must pass the same rule.
template <typename Lease>
class LeaseBucketOf {
 public:
  using Rule = typename Lease::Rule;

  explicit LeaseBucketOf(const Rule&) {}

  // As Gcra's functions of these names, but no call waits for a permit that the rate makes. The
  // caller makes the request that it gets.
  RatePermit Take(const Rule& rule, Instant now, absl::Duration) {
    const std::lock_guard lock(mutex_);
    return PermitOf(lease_.Take(rule, now), now);
  }
  RatePermit Check(const Rule& rule, Instant now, absl::Duration) {
    const std::lock_guard lock(mutex_);
    return PermitOf(lease_.Check(rule, now), now);
  }
  void Return(const Rule& rule, const RatePermit& permit) {
    const std::lock_guard lock(mutex_);
    lease_.Return(rule, Instant::FromNanos(permit.mark));
  }
  bool IdleAt(const Rule&, Instant now) {
    const std::lock_guard lock(mutex_);
    return lease_.IdleAt(now);
  }

  // As the lease's function of this name.
  LeaseHolding HoldingAt(const Rule& rule, Instant now) {
    const std::lock_guard lock(mutex_);
    return lease_.HoldingAt(rule, now);
  }

  // As the lease's functions of these names. Return whether calls wait for the answer.
  bool OnGrant(const Rule& rule, const LeaseGrant& grant, Instant now) {
    const std::lock_guard lock(mutex_);
    const bool waited_for = lease_.waited_for();
    lease_.OnGrant(rule, grant, now);
    return waited_for;
  }
  bool OnLost(const Rule& rule, int sidecars, Instant now) {
    const std::lock_guard lock(mutex_);
    const bool waited_for = lease_.waited_for();
    lease_.OnLost(rule, sidecars, now);
    return waited_for;
  }

 private:
  static RatePermit PermitOf(const LeaseDecision& decision, Instant now) {
    RatePermit permit;
    permit.granted = decision.verdict == LeaseVerdict::kAdmitted;
    permit.awaits_lease = decision.verdict == LeaseVerdict::kAwaitsLease;
    permit.wait = decision.wait;
    permit.mark = now.nanos();
    permit.request = decision.request;
    return permit;
  }

  std::mutex mutex_;
  Lease lease_;
};

using LeaseBucket = LeaseBucketOf<PermitLease>;
using ServiceBucket = LeaseBucketOf<ServiceLease>;

}  // namespace levee
