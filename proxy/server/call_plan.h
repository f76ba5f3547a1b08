// SPDX-License-Identifier: Apache-2.0
// What a worker has found out about calls of one (authority, path), so that each further one costs
// a single look-up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "call/plan.h"
#include "policy/latency_estimate.h"
#include "policy/rate_limiter.h"
#include "policy/retry_budget.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"
#include "upstream/pool.h"
#include "upstream/upstream_connection.h"

namespace levee {

// A destination as one worker sees it: an upstream, or for `authority:` an upstream and the
// authority.
struct Destination {
  std::string upstream;
  std::string authority;                         // empty unless the upstream dials it
  std::shared_ptr<const ConnectPolicy> connect;  // that the pool goes by
  std::unique_ptr<Pool> pool;
  LatencyEstimate latency;
  UpstreamSeries* series;
  Instant last_used;
  bool gone = false;  // the worker does not know it any more; calls may still run on it
};

// The limits of a plan's policy, in its order.
struct PlannedLimits {
  std::vector<std::shared_ptr<RateLimiter>> owned;
  std::vector<RateLimiter*> limiters;
  std::vector<RateLimitSeries*> series;
};

// Never changed but for `method` and `labelled`. Held by calls with a plain count, so one thread.
struct CallPlan {
  std::shared_ptr<const Snapshot> snapshot;  // owns the policy
  PlannedPolicy calls;
  PlannedLimits limits;
  std::shared_ptr<Destination> destination;
  std::shared_ptr<RetryBudget> budget;  // the destination's, shared with the other workers
  std::string path;
  MethodSeries* method = nullptr;
  bool labelled = false;  // `method` is the method's own series, or it can get none
};

// The cache. Bounded: when it is full it starts anew, since a caller that makes up paths would
// otherwise fill it with entries nobody asks for again. One thread.
class PlanCache {
 public:
  // nullptr if there is none yet.
  std::shared_ptr<CallPlan> Find(std::string_view authority, std::string_view path) const {
    const auto found = plans_.find(KeyView{authority, path});
    return found == plans_.end() ? nullptr : found->second;
  }

  // True if the bound was reached and the others were dropped.
  bool Insert(std::string_view authority, std::string_view path, std::shared_ptr<CallPlan> plan) {
    const bool full = plans_.size() >= kMaxPlans;
    if (full) plans_.clear();
    plans_.emplace(Key{std::string(authority), std::string(path)}, std::move(plan));
    return full;
  }

  void Clear() { plans_.clear(); }

  // Drops the plans of destinations that have gone.
  void EraseGone() {
    absl::erase_if(plans_, [](const auto& entry) { return entry.second->destination->gone; });
  }

 private:
  static constexpr size_t kMaxPlans = 10'000;

  using KeyView = std::pair<std::string_view, std::string_view>;
  using Key = std::pair<std::string, std::string>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const { return absl::HashOf(key.first, key.second); }
    size_t operator()(const Key& key) const { return (*this)(KeyView(key)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };

  absl::flat_hash_map<Key, std::shared_ptr<CallPlan>, Hash, Equal> plans_;
};

}  // namespace levee
