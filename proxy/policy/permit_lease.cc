// SPDX-License-Identifier: Apache-2.0
#include "policy/permit_lease.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "policy/lease_times.h"

namespace levee {
namespace {

constexpr absl::Duration kShortestLease = absl::Milliseconds(50);
constexpr absl::Duration kLongestLease = absl::Milliseconds(500);

// A sidecar whose last call was admitted longer ago has no rate of its own.
constexpr double kLeastRate = 0.1;

int64_t Permits(double per_second, absl::Duration span) {
  return static_cast<int64_t>(std::ceil(per_second * absl::ToDoubleSeconds(span)));
}

}  // namespace

absl::Duration LeaseRule::Lease() const {
  return std::clamp(absl::Seconds(burst / per_second), kShortestLease, kLongestLease);
}

int64_t LeaseRule::StoreBurst() const {
  return std::max<int64_t>(burst, Permits(per_second, kShortestLease));
}

LeaseDecision PermitLease::Decide(const LeaseRule& rule, Instant now, bool take) {
  permits_.Expire(now);
  last_call_ = std::max(last_call_, now);
  Decision decision;
  decision.verdict = Judge(rule, now, take);
  if (decision.verdict == Verdict::kAwaitsLease) {
    ++waiting_;
  } else if (take || decision.verdict == Verdict::kRefused) {
    demand_.Add(now);
    if (decision.verdict == Verdict::kAdmitted) used_.Add(now);
  }
  if (MustAsk(now)) decision.request = Ask(rule, now);
  if (decision.verdict == Verdict::kRefused) {
    const Instant again = asking_ ? now + rule.Lease() / 4 : ask_from_;
    decision.wait = std::max(again - now, absl::Milliseconds(1));
  }
  return decision;
}

LeaseVerdict PermitLease::Judge(const LeaseRule& rule, Instant now, bool take) {
  if (away()) return TakeOwn(rule, now, take) ? Verdict::kAdmitted : Verdict::kRefused;
  if (TakeLeased(take)) return Verdict::kAdmitted;
  return asking_ || CanAsk(now) ? Verdict::kAwaitsLease : Verdict::kRefused;
}

bool PermitLease::TakeLeased(bool take) {
  if (permits_.left() == 0) return false;
  if (take) permits_.Remove(1);
  return true;
}

// The store is away.
bool PermitLease::TakeOwn(const LeaseRule& rule, Instant now, bool take) {
  if (rule.away != StoreAway::kLast) return rule.away == StoreAway::kAllow;
  FillOwn(rule, now);
  if (own_permits_ < 1) return false;
  if (take) {
    own_permits_ -= 1;
    ++own_used_;
  }
  return true;
}

void PermitLease::FillOwn(const LeaseRule& rule, Instant now) {
  const double rate = OwnRate(rule, now);
  const absl::Duration since = std::max(now - own_at_, absl::ZeroDuration());
  const double most = std::max(BurstOf(rule), rate * absl::ToDoubleSeconds(rule.Lease()));
  own_permits_ = std::min(own_permits_ + rate * absl::ToDoubleSeconds(since), most);
  own_at_ = std::max(own_at_, now);
  // The call that asks may take one.
  own_full_at_ = own_at_ + absl::Seconds((most - own_permits_ + 1) / rate);
}

double PermitLease::BurstOf(const LeaseRule& rule) const {
  return std::max(1.0, static_cast<double>(rule.burst) / sidecars_);
}

double PermitLease::OwnRate(const LeaseRule& rule, Instant now) const {
  if (StateAt(rule, now) != State::kStale) return ShareOf(rule);
  return limited_ ? last_rate_ : std::max(last_rate_, ShareOf(rule));
}

PermitLease::State PermitLease::StateAt(const LeaseRule& rule, Instant now) const {
  if (!away()) return State::kLeased;
  const bool stale =
      rule.away == StoreAway::kLast && last_rate_ > 0 && now - away_since_ < rule.grace;
  return stale ? State::kStale : State::kFallback;
}

bool PermitLease::CanAsk(Instant now) const {
  if (asking_) return false;
  const bool used_up = !short_ && permits_.left() == 0 && !away();
  return used_up || now >= ask_from_;
}

bool PermitLease::MustAsk(Instant now) const {
  if (!CanAsk(now)) return false;
  if (away() || permits_.left() == 0 || now >= renew_at_) return true;
  return static_cast<double>(permits_.left()) <= kAskAhead * static_cast<double>(last_granted_);
}

LeaseRequest PermitLease::Ask(const LeaseRule& rule, Instant now) {
  asking_ = true;
  asked_at_ = now;
  const LeaseRequest request = away() ? AskWhileAway(rule, now) : AskForNext(rule, now);
  wanted_ = request.want;
  return request;
}

LeaseRequest PermitLease::AskForNext(const LeaseRule& rule, Instant now) {
  const double rate = demand_.At(now);
  // A quarter of a lease is more than the answer should take.
  const int64_t kept = std::min(permits_.left(), Permits(rate, rule.Lease() / 4));
  LeaseRequest request;
  request.refund = permits_.left() - kept;
  permits_.Remove(request.refund);
  request.want = std::max<int64_t>({1, waiting_, backlog_, Permits(rate, rule.Lease()) - kept});
  return request;
}

LeaseRequest PermitLease::AskWhileAway(const LeaseRule& rule, Instant now) {
  const double rate = used_.At(now);
  const int64_t used = std::min(own_used_, Permits(rate, rule.Lease()));
  own_used_ = 0;
  return {.want = std::max<int64_t>(1, Permits(rate, rule.Lease() / 2)), .refund = -used};
}

void PermitLease::Return(const LeaseRule& rule, Instant now) {
  if (away()) {
    own_permits_ += 1;
    --own_used_;
  } else {
    // Nothing is known of when it was leased.
    permits_.AddToOldest(now + rule.Lease() / 4);
  }
}

void PermitLease::OnGrant(const LeaseRule& rule, const LeaseGrant& grant, Instant now) {
  LEVEE_CHECK(asking_);
  asking_ = false;
  if (away() && !returning_ && now - away_since_ > rule.Lease()) {
    returning_ = true;
    ask_from_ = now + rule.Lease() / 2;
    return;
  }
  returning_ = false;
  away_since_ = Instant::Infinite();
  backlog_ = std::max<int64_t>(waiting_ - grant.granted, 0);
  waiting_ = 0;
  permits_.Expire(now);
  const absl::Duration lease = rule.Lease();
  last_granted_ = grant.granted;
  short_ = grant.granted < wanted_;
  // The store counted the permits when it was asked, or later. A slow answer still leaves time.
  const Instant expires = std::max(asked_at_ + lease, now + lease / 2);
  permits_.Add(grant.granted, expires);
  renew_at_ = asked_at_ + lease * (1 - kAskAhead);
  ask_from_ = asked_at_ + lease / 4;
  // Nobody needs to wait for longer than an empty bucket takes to fill.
  const absl::Duration fills = absl::Seconds((rule.StoreBurst() + 1) / rule.per_second);
  if (short_) ask_from_ = std::max(ask_from_, now + std::min(grant.wait, fills));
}

void PermitLease::OnLost(const LeaseRule& rule, int sidecars, Instant now) {
  LEVEE_CHECK(asking_ && sidecars >= 1);
  asking_ = false;
  waiting_ = 0;
  backlog_ = 0;
  // A single answer that is lost should not matter for long.
  ask_from_ = now + (away() ? rule.Lease() : rule.Lease() / 4);
  sidecars_ = sidecars;
  returning_ = false;
  if (away()) return;
  away_since_ = now;
  const double rate = used_.SinceFirstAt(now);
  last_rate_ = used_.At(now) < kLeastRate ? 0 : std::min(rate, rule.per_second);
  permits_.Expire(now);
  own_used_ = 0;
  // It got less than it asked for, and calls still come: others have the rest of the limit.
  limited_ = sidecars > 1 && short_ && demand_.At(now) >= used_.At(now);
  // Of its part of the burst it has what calls at its present rate leave: all of it if it is new.
  const double saved = limited_ ? 0 : BurstOf(rule) * (1 - used_.At(now) / ShareOf(rule));
  own_permits_ = std::max(static_cast<double>(permits_.left()), saved);
  own_at_ = now;
  FillOwn(rule, now);
  permits_.Remove(permits_.left());
}

LeaseHolding PermitLease::HoldingAt(const LeaseRule& rule, Instant now) const {
  const bool own = away() && rule.away == StoreAway::kLast && !IdleAt(now);
  return {.permits_left = permits_.LeftAt(now), .own_rate = own ? OwnRate(rule, now) : 0};
}

bool PermitLease::IdleAt(Instant now) const {
  return !asking_ && now - last_call_ >= kIdleAfter && (!away() || now >= own_full_at_);
}

}  // namespace levee
