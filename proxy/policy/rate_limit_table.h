// SPDX-License-Identifier: Apache-2.0
// The rate limiters of all policies, shared by the workers.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/shared_table.h"
#include "policy/rate_limiter.h"

namespace levee {

// Hands out one limiter per policy and limit: that is whose calls share it. A limiter lives as long
// as somebody uses it, and a limit with other numbers is another one: during a reload, when some
// workers still go by the old numbers, both are there. Any thread; locks, so workers ask once per
// plan.
class RateLimitTable {
 public:
  // `leases`: of the limits that are shared, and outlives them. nullptr: no other sidecar shares
  // one.
  explicit RateLimitTable(LeaseSource* leases = nullptr) : leases_(leases) {}

  std::shared_ptr<RateLimiter> Get(const std::string& policy, const RateLimitPolicy& limit) {
    return limiters_.Get({policy, limit}, Instant(),
                         [&] { return std::make_shared<RateLimiter>(limit, leases_); });
  }

  // Returns who decides for each shared limit; of several of one name the state that is furthest
  // from the store.
  std::map<std::string, PermitLease::State> Leases(Instant now) const {
    std::map<std::string, PermitLease::State> leases;
    for (const auto& [key, limiter, held] : limiters_.All()) {
      if (!key.limit.shared.has_value()) continue;
      PermitLease::State& state = leases[key.limit.name];  // kLeased at first
      state = std::max(state, limiter->LeaseState(now));
    }
    return leases;
  }

  // Returns each shared limit with the name of its policy; of several of one name the newest.
  std::vector<std::pair<std::string, std::shared_ptr<RateLimiter>>> Shared() const {
    std::map<std::pair<std::string, std::string>, std::shared_ptr<RateLimiter>> newest;
    for (const auto& [key, limiter, held] : limiters_.All()) {
      if (key.limit.shared.has_value()) newest[{key.policy, key.limit.name}] = limiter;
    }
    std::vector<std::pair<std::string, std::shared_ptr<RateLimiter>>> shared;
    for (auto& [names, limiter] : newest) shared.emplace_back(names.first, std::move(limiter));
    return shared;
  }

  // Limits that the table knows: those that somebody uses, and some that nobody does any more.
  size_t size() const { return limiters_.size(); }

 private:
  struct Key {
    std::string policy;
    RateLimitPolicy limit;
    friend std::partial_ordering operator<=>(const Key&, const Key&) = default;
  };

  LeaseSource* const leases_;
  SharedTable<Key, RateLimiter> limiters_;
};

}  // namespace levee
