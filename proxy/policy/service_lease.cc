// SPDX-License-Identifier: Apache-2.0
#include "policy/service_lease.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "policy/lease_times.h"

namespace levee {
namespace {

// A request is for at most this part of what the window has left.
constexpr int64_t kPart = 8;

// By how much a service that tells nothing is asked for more.
constexpr int64_t kGrowth = 4;
constexpr int64_t kMostUntold = 1'000'000;

// A service tells whole seconds, rounded up.
constexpr absl::Duration kLeaseRounding = absl::Seconds(1);

}  // namespace

LeaseDecision ServiceLease::Decide(const ServiceRule& rule, Instant now, bool take) {
  permits_.Expire(now);
  last_call_ = std::max(last_call_, now);
  Decision decision;
  decision.verdict = Judge(rule, now, take);
  if (decision.verdict == Verdict::kAwaitsLease) {
    ++waiting_;
  } else if (take || decision.verdict == Verdict::kRefused) {
    demand_.Add(now);
  }
  if (MustAsk(rule, now)) {
    asking_ = true;
    asked_at_ = now;
    wanted_ = decision.request.want = Want(rule, now);
  }
  if (decision.verdict == Verdict::kRefused) {
    const Instant again = away_ ? ask_from_ : refused_until_;
    decision.wait = std::max(again - now, absl::Milliseconds(1));
  }
  return decision;
}

LeaseVerdict ServiceLease::Judge(const ServiceRule& rule, Instant now, bool take) {
  if (permits_.left() > 0) {
    if (take) permits_.Remove(1);
    return Verdict::kAdmitted;
  }
  if (away_) return rule.admits_when_away ? Verdict::kAdmitted : Verdict::kRefused;
  return asking_ || CanAsk(now) ? Verdict::kAwaitsLease : Verdict::kRefused;
}

bool ServiceLease::CanAsk(Instant now) const {
  if (asking_) return false;
  const bool used_up = !over_ && !away_ && permits_.left() == 0;
  return used_up || now >= ask_from_;
}

bool ServiceLease::MustAsk(const ServiceRule& rule, Instant now) const {
  if (!CanAsk(now)) return false;
  if (waiting_ > 0 || away_) return true;
  const int64_t expected = std::min(Expected(rule, now), Most(now));
  return expected >= 1 && now >= ask_from_ &&
         static_cast<double>(permits_.left()) <= kAskAhead * static_cast<double>(expected);
}

// How many permits the calls of a lease would use.
int64_t ServiceLease::Expected(const ServiceRule& rule, Instant now) const {
  return static_cast<int64_t>(std::floor(demand_.At(now) * absl::ToDoubleSeconds(rule.lease)));
}

int64_t ServiceLease::Want(const ServiceRule& rule, Instant now) const {
  if (over_ || away_) return 1;
  const int64_t want = std::max({waiting_, backlog_, Expected(rule, now) - permits_.left()});
  return std::clamp<int64_t>(want, 1, Most(now));
}

// The largest request that the service is likely to grant.
int64_t ServiceLease::Most(Instant now) const {
  if (limit_ == 0) return most_;
  return std::max<int64_t>((now < window_ends_ ? remaining_ : limit_) / kPart, 1);
}

void ServiceLease::Return(const ServiceRule& rule, Instant now) {
  if (!away_) permits_.AddToOldest(now + rule.lease);
}

void ServiceLease::OnGrant(const ServiceRule& rule, const LeaseGrant& grant, Instant now) {
  LEVEE_CHECK(asking_);
  asking_ = away_ = over_ = false;
  backlog_ = std::max<int64_t>(waiting_ - grant.granted, 0);
  waiting_ = 0;
  limit_ = grant.window.limit;
  remaining_ = grant.window.remaining;
  window_ends_ = now + grant.window.resets_in;
  if (grant.granted == 0) return OnOverLimit(rule, grant.window, now);
  // A slow answer still leaves time.
  const Instant lease_ends = std::max(asked_at_ + rule.lease, now + rule.lease / 2);
  permits_.Expire(now);
  permits_.Add(grant.granted, std::max(lease_ends, window_ends_));
  ask_from_ = asked_at_ + rule.lease / 4;
  if (wanted_ == most_) most_ = std::min(most_ * kGrowth, kMostUntold);
}

void ServiceLease::OnOverLimit(const ServiceRule& rule, const ServiceWindow& window, Instant now) {
  const bool told = window.resets_in > absl::ZeroDuration();
  most_ = std::max<int64_t>(wanted_ / 2, 1);
  // The window may still have some for a smaller request.
  if (!told && wanted_ > 1) return;
  over_ = true;
  backlog_ = 0;
  ask_from_ = std::max(now + rule.lease, window_ends_ - kLeaseRounding);
  refused_until_ = std::max(ask_from_, window_ends_);
}

void ServiceLease::OnLost(const ServiceRule& rule, int /*sidecars*/, Instant now) {
  LEVEE_CHECK(asking_);
  asking_ = false;
  waiting_ = backlog_ = 0;
  // A single answer that is lost should not matter for long.
  ask_from_ = now + (away_ ? rule.lease : rule.lease / 4);
  away_ = true;
}

bool ServiceLease::IdleAt(Instant now) const { return !asking_ && now - last_call_ >= kIdleAfter; }

}  // namespace levee
