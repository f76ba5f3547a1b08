// SPDX-License-Identifier: Apache-2.0
// The rate limiters of all policies, shared by the workers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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
    const std::lock_guard lock(mutex_);
    Versions& versions = limiters_[{policy, limit.name}];
    std::erase_if(versions, [](const auto& version) { return version.expired(); });
    for (const auto& version : versions) {
      std::shared_ptr<RateLimiter> limiter = version.lock();
      if (limiter != nullptr && limiter->policy() == limit) return limiter;
    }
    auto limiter = std::make_shared<RateLimiter>(limit, leases_);
    versions.push_back(limiter);
    ForgetUnused();
    return limiter;
  }

  // Returns who decides for each shared limit; of several of one name the state that is furthest
  // from the store.
  std::map<std::string, PermitLease::State> Leases(Instant now) const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, PermitLease::State> leases;
    ForEachShared([&](const auto&, const auto& limiter) {
      PermitLease::State& state = leases[limiter->policy().name];  // kLeased at first
      state = std::max(state, limiter->LeaseState(now));
    });
    return leases;
  }

  // Returns each shared limit with the name of its policy; of several of one name the newest.
  std::vector<std::pair<std::string, std::shared_ptr<RateLimiter>>> Shared() const {
    const std::lock_guard lock(mutex_);
    std::map<std::pair<std::string, std::string>, std::shared_ptr<RateLimiter>> newest;
    ForEachShared([&](const std::string& policy, const std::shared_ptr<RateLimiter>& limiter) {
      newest[{policy, limiter->policy().name}] = limiter;
    });
    std::vector<std::pair<std::string, std::shared_ptr<RateLimiter>>> shared;
    for (auto& [names, limiter] : newest) shared.emplace_back(names.first, std::move(limiter));
    return shared;
  }

  // Names that the table knows: of limits that somebody uses, and of some that nobody does any
  // more.
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return limiters_.size();
  }

 private:
  using Versions = std::vector<std::weak_ptr<RateLimiter>>;

  // The lock is held.
  template <typename F>
  void ForEachShared(F f) const {
    for (const auto& [names, versions] : limiters_) {
      for (const auto& version : versions) {
        const std::shared_ptr<RateLimiter> limiter = version.lock();
        if (limiter != nullptr && limiter->policy().shared.has_value()) f(names.first, limiter);
      }
    }
  }

  // New limiters are rare (a reload, a plan for what no plan is for), and names do not grow in
  // number but with them.
  void ForgetUnused() {
    std::erase_if(limiters_, [](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(),
                         [](const auto& version) { return version.expired(); });
    });
  }

  LeaseSource* const leases_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Versions> limiters_;
};

}  // namespace levee
