// SPDX-License-Identifier: Apache-2.0
#include "policy/rate_limiter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "base/check.h"
#include "policy/adaptive_bucket.h"
#include "policy/bucket_table.h"
#include "policy/lease_bucket.h"

namespace levee {
namespace {

constexpr int64_t kThere = std::numeric_limits<int64_t>::max();

}  // namespace

class RateLimiter::Buckets {
 public:
  Buckets(const RateLimitPolicy& policy, bool leased) : tables_(Make(policy, leased)) {}

  // Calls f with the limit's table.
  template <typename F>
  auto Visit(F f) {
    return std::visit(f, tables_);
  }

  // nullptr unless the limit is adaptive.
  BucketTable<AdaptiveBucket>* adaptive() {
    return std::get_if<BucketTable<AdaptiveBucket>>(&tables_);
  }

  // Calls f with the bucket and its rule, if its permits are leased and it is still there.
  template <typename F>
  void VisitLeased(const LeaseSource::Bucket& bucket, F f) {
    if (auto* table = std::get_if<BucketTable<LeaseBucket>>(&tables_)) {
      table->Visit(bucket.key, bucket.shared_bucket, f);
    } else if (auto* asked = std::get_if<BucketTable<ServiceBucket>>(&tables_)) {
      asked->Visit(bucket.key, bucket.shared_bucket, f);
    }
  }

  // The number of keys with a bucket, and what the buckets have if they are not too many.
  void Look(Instant now, View& view) {
    if (auto* table = std::get_if<BucketTable<LeaseBucket>>(&tables_)) {
      LookAt(*table, now, view);
    } else if (auto* asked = std::get_if<BucketTable<ServiceBucket>>(&tables_)) {
      LookAt(*asked, now, view);
    }
  }

 private:
  using Tables = std::variant<BucketTable<Gcra>, BucketTable<AdaptiveBucket>,
                              BucketTable<LeaseBucket>, BucketTable<ServiceBucket>>;

  template <typename Table>
  static void LookAt(Table& table, Instant now, View& view) {
    view.keys = table.keys();
    if (view.keys > kMostLookedAt) return;
    LeaseHolding sum;
    table.ForEach([&](auto& bucket, const auto& rule) {
      const LeaseHolding holding = bucket.HoldingAt(rule, now);
      sum.permits_left += holding.permits_left;
      sum.own_rate += holding.own_rate;
    });
    view.holding = sum;
  }

  static Tables Make(const RateLimitPolicy& policy, bool leased) {
    LEVEE_CHECK(policy.max_keys >= 1);
    const int keys = policy.key.empty() ? 0 : policy.max_keys;
    if (leased && policy.shared->service.has_value()) {
      return Tables(std::in_place_type<BucketTable<ServiceBucket>>, policy.service_rule(), keys);
    }
    if (leased) {
      return Tables(std::in_place_type<BucketTable<LeaseBucket>>, policy.lease_rule(), keys);
    }
    if (policy.adaptive) {
      return Tables(std::in_place_type<BucketTable<AdaptiveBucket>>,
                    AdaptiveBucket::Rule{policy.per_second, policy.burst}, keys);
    }
    return Tables(std::in_place_type<BucketTable<Gcra>>, GcraRate(policy.per_second, policy.burst),
                  keys);
  }

  Tables tables_;
};

RateLimiter::RateLimiter(const RateLimitPolicy& policy, LeaseSource* leases)
    : policy_(policy),
      leases_(leases),
      buckets_(std::make_unique<Buckets>(policy, policy.shared.has_value() && leases != nullptr)),
      away_since_(kThere) {}

RateLimiter::~RateLimiter() = default;

RateLimiter::Permit RateLimiter::Take(const LimitKey& key, Instant now, absl::Duration max_wait) {
  return Asked(key,
               buckets_->Visit([&](auto& table) { return table.Take(key.text(), now, max_wait); }),
               now);
}

RateLimiter::Permit RateLimiter::Check(const LimitKey& key, Instant now, absl::Duration max_wait) {
  return Asked(key,
               buckets_->Visit([&](auto& table) { return table.Check(key.text(), now, max_wait); }),
               now);
}

// Makes the request that came with the permit.
RateLimiter::Permit RateLimiter::Asked(const LimitKey& key, const Permit& permit, Instant now) {
  if (permit.request.want > 0) {
    if (permit.request.refund > 0) CountGranted(-permit.request.refund, now);
    leases_->Ask({.limiter = weak_from_this(),
                  .key = std::string(key.text()),
                  .shared_bucket = permit.shared_bucket},
                 permit.request);
  }
  return permit;
}

void RateLimiter::Return(const LimitKey& key, const Permit& permit) {
  buckets_->Visit([&](auto& table) { table.Return(key.text(), permit); });
}

void RateLimiter::OnOverloaded(const LimitKey& key, Instant attempt_start, Instant now) {
  if (auto* table = buckets_->adaptive()) table->OnOverloaded(key.text(), attempt_start, now);
}

void RateLimiter::CountGranted(int64_t permits, Instant now) {
  const std::lock_guard lock(granted_mutex_);
  granted_.Add(now, static_cast<double>(permits));
}

bool RateLimiter::OnGrant(const LeaseSource::Bucket& bucket, const LeaseGrant& grant, Instant now) {
  CountGranted(grant.granted, now);
  was_leased_.store(true, std::memory_order_relaxed);
  away_since_.store(kThere, std::memory_order_relaxed);
  bool waited_for = false;
  buckets_->VisitLeased(bucket, [&](auto& leased, const auto& rule) {
    waited_for = leased.OnGrant(rule, grant, now);
  });
  return waited_for;
}

bool RateLimiter::OnLost(const LeaseSource::Bucket& bucket, Instant now) {
  int64_t there = kThere;
  away_since_.compare_exchange_strong(there, now.nanos(), std::memory_order_relaxed);
  bool waited_for = false;
  buckets_->VisitLeased(bucket, [&](auto& leased, const auto& rule) {
    waited_for = leased.OnLost(rule, sidecars(), now);
  });
  return waited_for;
}

PermitLease::State RateLimiter::LeaseState(Instant now) const {
  using State = PermitLease::State;
  const int64_t since = away_since_.load(std::memory_order_relaxed);
  if (since == kThere) return State::kLeased;
  const bool in_grace = now - Instant::FromNanos(since) < policy_.shared->grace;
  const bool stale = policy_.shared->away == StoreAway::kLast && in_grace &&
                     was_leased_.load(std::memory_order_relaxed);
  return stale ? State::kStale : State::kFallback;
}

RateLimiter::View RateLimiter::ViewAt(Instant now) const {
  View view = {.state = LeaseState(now)};
  buckets_->Look(now, view);
  const std::lock_guard lock(granted_mutex_);
  // Permits that are given back were granted a moment before.
  view.granted_per_second = std::max(granted_.SinceFirstAt(now), 0.0);
  return view;
}

namespace {

// One call before the limits of its policy.
class Admission {
 public:
  Admission(std::span<RateLimiter* const> limits, std::span<const LimitKey> keys, Instant now,
            absl::Duration time_left)
      : limits_(limits), keys_(keys), now_(now), longest_wait_(time_left - absl::Nanoseconds(1)) {}

  // Asks the first `count` limits.
  RateAdmission Check(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!Record(i, limits_[i]->Check(keys_[i], now_, MaxWait(i)))) break;
    }
    return admission_;
  }

  RateAdmission Decide() {
    const size_t count = limits_.size();
    // All limits but the last are asked first. Then all permits are taken, that of the last limit
    // first. So a single limit is asked only once, and permits are returned only after a race.
    if (count > 1 && Check(count - 1).refused_by != RateAdmission::kNone) return admission_;
    admission_ = RateAdmission();
    absl::InlinedVector<RatePermit, 4> permits(count);
    for (size_t i = count; i-- > 0;) {
      permits[i] = limits_[i]->Take(keys_[i], now_, MaxWait(i));
      if (Record(i, permits[i])) continue;
      for (size_t taken = i + 1; taken < count; ++taken) {
        limits_[taken]->Return(keys_[taken], permits[taken]);
      }
      return admission_;
    }
    return admission_;
  }

 private:
  absl::Duration MaxWait(size_t i) const {
    return std::min(limits_[i]->policy().max_wait, longest_wait_);
  }

  // Adds the answer of limit `i`. Returns false if the limit refuses.
  bool Record(size_t i, const RatePermit& permit) {
    admission_.shared_bucket |= permit.shared_bucket;
    if (!permit.granted) {
      admission_.refused_by = static_cast<int>(i);
      admission_.delayed_by = RateAdmission::kNone;
      admission_.wait = permit.wait;
      admission_.awaits_lease = permit.awaits_lease;
    } else if (permit.wait > admission_.wait) {
      admission_.delayed_by = static_cast<int>(i);
      admission_.wait = permit.wait;
    }
    return permit.granted;
  }

  const std::span<RateLimiter* const> limits_;
  const std::span<const LimitKey> keys_;
  const Instant now_;
  const absl::Duration longest_wait_;
  RateAdmission admission_;
};

}  // namespace

RateAdmission CheckCall(std::span<RateLimiter* const> limits, std::span<const LimitKey> keys,
                        Instant now, absl::Duration time_left) {
  LEVEE_CHECK(limits.size() == keys.size());
  return Admission(limits, keys, now, time_left).Check(limits.size());
}

RateAdmission AdmitCall(std::span<RateLimiter* const> limits, std::span<const LimitKey> keys,
                        Instant now, absl::Duration time_left) {
  LEVEE_CHECK(limits.size() == keys.size());
  return Admission(limits, keys, now, time_left).Decide();
}

}  // namespace levee
