// SPDX-License-Identifier: Apache-2.0
// The bucket of a shared rate limit, in one sidecar.
#pragma once

#include <mutex>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/gcra.h"
#include "policy/permit_lease.h"

namespace levee {

// A PermitLease that several threads use, as a bucket of a BucketTable. Any thread, with a lock for
// the time of one decision. All calls of a bucket must pass the same rule.
class LeaseBucket {
 public:
  using Rule = LeaseRule;

  explicit LeaseBucket(const LeaseRule&) {}

  // As Gcra's functions of these names, but no call waits for a permit that the rate makes. The
  // caller makes the request that it gets.
  RatePermit Take(const LeaseRule& rule, Instant now, absl::Duration);
  RatePermit Check(const LeaseRule& rule, Instant now, absl::Duration);
  void Return(const LeaseRule& rule, const RatePermit& permit);
  bool IdleAt(const LeaseRule& rule, Instant now);

  // As PermitLease's functions of these names. Return whether calls wait for the answer.
  bool OnGrant(const LeaseRule& rule, const LeaseGrant& grant, Instant now);
  bool OnLost(const LeaseRule& rule, int sidecars, Instant now);

 private:
  std::mutex mutex_;
  PermitLease lease_;
};

}  // namespace levee
