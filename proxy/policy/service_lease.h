// SPDX-License-Identifier: Apache-2.0
// One sidecar's part of a rate limit that a rate limit service keeps: permits leased in batches.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/event_rate.h"
#include "policy/lease_request.h"
#include "policy/leased_permits.h"

namespace levee {

// The numbers of a limit whose rate the service alone knows.
struct ServiceRule {
  absl::Duration lease = absl::Milliseconds(100);  // above zero
  bool admits_when_away = true;                    // else it refuses every call then
};

// Decides which calls of one bucket begin, and when to ask the service and for how much. It differs
// from PermitLease in what a rate limit service is like (envoyproxy/ratelimit, Limitador): it
// counts hits in windows, takes none back, and where a request is for more than the window has
// left, it grants nothing, and some count the request all the same.
//
//   - A request is for what the calls of the last 200 ms would use in a lease, rounded down, or for
//     the calls that wait. So a bucket with a call now and then asks for one permit per call, and
//     none is lost. It is made ahead, when three tenths of that are left.
//   - It is for no more than a part of what the window has left, as the last answer told. So what
//     sidecars ask for in vain at a window's end, and is lost, is small. A service that does not
//     tell is asked for few permits at first, and then for more.
//   - A permit can be used for a lease, or until its window ends: nobody else could use it.
//   - One request is under way at a time, none sooner than a quarter of a lease after the one
//     before; but a bucket that got all it asked for and has nothing left asks at once.
//   - "Over the limit" holds until the window ends. Services tell that time in whole seconds,
//     rounded up. So in the last of these a request for one permit is made in each lease.
//   - Without an answer the service is away until the next one. Requests go on, one per lease, but
//     no call waits for them.
//
// Whoever asks the service must tell OnGrant or OnLost for each request, and then let calls that
// wait ask again. All calls of a bucket must pass the same rule. One thread.
class ServiceLease {
 public:
  using Rule = ServiceRule;
  using Verdict = LeaseVerdict;
  using Decision = LeaseDecision;

  // A call asks for a permit.
  Decision Take(const ServiceRule& rule, Instant now) { return Decide(rule, now, /*take=*/true); }

  // As Take, but takes no permit.
  Decision Check(const ServiceRule& rule, Instant now) { return Decide(rule, now, /*take=*/false); }

  // A permit that Take gave a moment ago was not used.
  void Return(const ServiceRule& rule, Instant now);

  // The service has answered the request under way. Nothing granted: it is over the limit.
  void OnGrant(const ServiceRule& rule, const LeaseGrant& grant, Instant now);

  // The request under way has no answer. How many sidecars there are does not matter here.
  void OnLost(const ServiceRule& rule, int sidecars, Instant now);

  LeaseHolding HoldingAt(const ServiceRule&, Instant now) const {
    return {.permits_left = permits_.LeftAt(now)};
  }

  // Whether calls wait for the answer that is under way.
  bool waited_for() const { return waiting_ > 0; }

  // Whether a new bucket would decide like this one, but for a permit that nobody used.
  bool IdleAt(Instant now) const;

 private:
  Decision Decide(const ServiceRule& rule, Instant now, bool take);
  Verdict Judge(const ServiceRule& rule, Instant now, bool take);
  bool CanAsk(Instant now) const;
  bool MustAsk(const ServiceRule& rule, Instant now) const;
  int64_t Want(const ServiceRule& rule, Instant now) const;
  int64_t Expected(const ServiceRule& rule, Instant now) const;
  int64_t Most(Instant now) const;
  void OnOverLimit(const ServiceRule& rule, const ServiceWindow& window, Instant now);

  EventRate demand_{absl::Milliseconds(200)};  // calls that were admitted or refused
  Instant last_call_;
  LeasedPermits permits_;
  int64_t waiting_ = 0;  // calls since the last answer that were told to wait for one
  int64_t backlog_ = 0;  // calls that waited for the last answer and found no permit in it

  bool asking_ = false;
  int64_t wanted_ = 0;
  Instant asked_at_;
  Instant ask_from_;       // no request before it, but for one of a bucket that got all it wanted
  bool over_ = false;      // the last answer was "over the limit"
  Instant refused_until_;  // if it was
  bool away_ = false;      // the last request had no answer

  // The windows, as the service has told of them.
  int64_t limit_ = 0;  // 0: nothing
  int64_t remaining_ = 0;
  Instant window_ends_;
  int64_t most_ = 1;  // that a service that tells nothing is asked for
};

}  // namespace levee
