// SPDX-License-Identifier: Apache-2.0
#include "policy/lease_bucket.h"

namespace levee {
namespace {

RatePermit PermitOf(const PermitLease::Decision& decision, Instant now) {
  RatePermit permit;
  permit.granted = decision.verdict == PermitLease::Verdict::kAdmitted;
  permit.awaits_lease = decision.verdict == PermitLease::Verdict::kAwaitsLease;
  permit.wait = decision.wait;
  permit.mark = now.nanos();
  permit.request = decision.request;
  return permit;
}

}  // namespace

RatePermit LeaseBucket::Take(const LeaseRule& rule, Instant now, absl::Duration) {
  const std::lock_guard lock(mutex_);
  return PermitOf(lease_.Take(rule, now), now);
}

RatePermit LeaseBucket::Check(const LeaseRule& rule, Instant now, absl::Duration) {
  const std::lock_guard lock(mutex_);
  return PermitOf(lease_.Check(rule, now), now);
}

void LeaseBucket::Return(const LeaseRule& rule, const RatePermit& permit) {
  const std::lock_guard lock(mutex_);
  lease_.Return(rule, Instant::FromNanos(permit.mark));
}

bool LeaseBucket::IdleAt(const LeaseRule&, Instant now) {
  const std::lock_guard lock(mutex_);
  return lease_.IdleAt(now);
}

bool LeaseBucket::OnGrant(const LeaseRule& rule, const LeaseGrant& grant, Instant now) {
  const std::lock_guard lock(mutex_);
  const bool waited_for = lease_.waited_for();
  lease_.OnGrant(rule, grant, now);
  return waited_for;
}

bool LeaseBucket::OnLost(const LeaseRule& rule, int sidecars, Instant now) {
  const std::lock_guard lock(mutex_);
  const bool waited_for = lease_.waited_for();
  lease_.OnLost(rule, sidecars, now);
  return waited_for;
}

}  // namespace levee
