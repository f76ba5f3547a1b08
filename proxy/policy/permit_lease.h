// SPDX-License-Identifier: Apache-2.0
// One sidecar's part of a rate limit that several sidecars share: permits leased in batches.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/event_rate.h"
#include "policy/lease_request.h"
#include "policy/leased_permits.h"

namespace levee {

// Says what a shared limit does while its store is away.
enum class StoreAway : uint8_t {
  kLast,   // goes on at its share, and for `grace` at the sidecar's own last rate if that is more
  kAllow,  // admits every call
  kDeny,   // refuses every call
};

// The numbers of a shared limit.
struct LeaseRule {
  double per_second = 1;  // of all sidecars together, above zero
  int burst = 1;          // at least 1
  StoreAway away = StoreAway::kLast;
  absl::Duration grace = absl::Seconds(60);

  // How long a leased permit may be used: the time in which the rate fills the burst, within 50 and
  // 500 ms. A sidecar asks at most four times in it, so a store that grants no more than the burst
  // at a time can still give it the whole rate.
  absl::Duration Lease() const;

  // The burst by which the store grants: at least what the rate makes in the shortest lease.
  int64_t StoreBurst() const;
};

// Decides which calls of one bucket begin, and when to ask the store and for how much. The store
// keeps the bucket itself, for all sidecars; this holds what it has leased to this one.
//
//   - A request is for what the calls of the last 200 ms would use in a lease. It is made ahead,
//     when three tenths of the last batch are left or of its time. It refunds the permits that the
//     calls will not use until the answer. Leased permits expire after a lease.
//   - One request is under way at a time, none sooner than a quarter of a lease after the one
//     before, nor than the wait that the store told. But a bucket that got all it asked for and has
//     nothing left asks at once: the store has permits, and calls wait.
//   - A call that finds no permit waits for the answer that is under way. So no call is refused
//     because a batch was small.
//   - Without an answer the store is away until the next one. Requests go on, one per lease, but no
//     call waits for them. They tell what was used meanwhile, since the store's bucket has filled
//     up and would add a burst to it. After a longer absence all sidecars need a moment to tell. So
//     the store decides only from its second answer on, half a lease later.
//
// Whoever asks the store must tell OnGrant or OnLost for each request, and then let calls that wait
// ask again. All calls of a bucket must pass the same rule. One thread. Above 20 data members: the
// permits at hand and the request to the store change together.
class PermitLease {
 public:
  using Rule = LeaseRule;
  using Verdict = LeaseVerdict;
  using Decision = LeaseDecision;

  enum class State : uint8_t {
    kLeased,    // the store decides
    kStale,     // it is away: the own last rate decides, if it is more than the share
    kFallback,  // it is away: the share, or what the limit says
  };

  // A call asks for a permit.
  Decision Take(const LeaseRule& rule, Instant now) { return Decide(rule, now, /*take=*/true); }

  // As Take, but takes no permit.
  Decision Check(const LeaseRule& rule, Instant now) { return Decide(rule, now, /*take=*/false); }

  // A permit that Take gave a moment ago was not used.
  void Return(const LeaseRule& rule, Instant now);

  // The store has answered the request under way.
  void OnGrant(const LeaseRule& rule, const LeaseGrant& grant, Instant now);

  // The request under way has no answer. `sidecars`: that share the limit, as far as is known; at
  // least 1.
  void OnLost(const LeaseRule& rule, int sidecars, Instant now);

  State StateAt(const LeaseRule& rule, Instant now) const;

  LeaseHolding HoldingAt(const LeaseRule& rule, Instant now) const;

  // Whether calls wait for the answer that is under way.
  bool waited_for() const { return waiting_ > 0; }

  // Whether a new bucket would decide like this one.
  bool IdleAt(Instant now) const;

 private:
  Decision Decide(const LeaseRule& rule, Instant now, bool take);
  Verdict Judge(const LeaseRule& rule, Instant now, bool take);
  bool TakeLeased(bool take);
  bool TakeOwn(const LeaseRule& rule, Instant now, bool take);
  void FillOwn(const LeaseRule& rule, Instant now);
  double ShareOf(const LeaseRule& rule) const { return rule.per_second / sidecars_; }
  double BurstOf(const LeaseRule& rule) const;
  double OwnRate(const LeaseRule& rule, Instant now) const;
  bool CanAsk(Instant now) const;
  bool MustAsk(Instant now) const;
  LeaseRequest Ask(const LeaseRule& rule, Instant now);
  LeaseRequest AskForNext(const LeaseRule& rule, Instant now);
  LeaseRequest AskWhileAway(const LeaseRule& rule, Instant now);
  bool away() const { return !away_since_.is_infinite(); }

  EventRate demand_{absl::Milliseconds(200)};  // calls that were admitted or refused
  EventRate used_{absl::Seconds(1)};           // calls that were admitted
  Instant last_call_;

  LeasedPermits permits_;
  int64_t last_granted_ = 0;
  bool short_ = false;   // the last grant was less than was asked for
  int64_t waiting_ = 0;  // calls since the last answer that were told to wait for one
  int64_t backlog_ = 0;  // calls that waited for the last answer and found no permit in it

  bool asking_ = false;
  int64_t wanted_ = 0;
  Instant asked_at_;
  Instant ask_from_;  // no request before it, but for one of a bucket that got all and has nothing
  Instant renew_at_;  // a request is due, whatever is left

  Instant away_since_ = Instant::Infinite();
  double last_rate_ = 0;    // permits per second when the store went away; 0: there were none
  int sidecars_ = 1;        // that share the limit, when that was last known
  bool limited_ = false;    // the store granted less than calls wanted when it went away
  bool returning_ = false;  // the store has answered once
  int64_t own_used_ = 0;    // since the store was last told
  double own_permits_ = 0;  // made by this sidecar while the store is away
  Instant own_at_;
  Instant own_full_at_;  // a new bucket would have as many permits from then on
};

}  // namespace levee
