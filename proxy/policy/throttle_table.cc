// SPDX-License-Identifier: Apache-2.0
#include "policy/throttle_table.h"

#include <algorithm>

namespace levee {
namespace {

// Looking through all throttles is worth it only so often.
constexpr absl::Duration kForgetThrottlesEvery = absl::Seconds(1);

}  // namespace

std::shared_ptr<AdaptiveThrottle> ThrottleTable::Get(const std::string& upstream,
                                                     const std::string& authority,
                                                     const ThrottlePolicy& policy, Instant now) {
  const std::lock_guard lock(mutex_);
  if (now >= next_forgetting_) Forget(now);
  const Key key = {upstream,
                   authority,
                   policy.k,
                   policy.window,
                   policy.min_calls,
                   policy.on.mark,
                   policy.on.timeout,
                   policy.on.resource_exhausted,
                   policy.on.unavailable,
                   policy.mode};
  if (const auto found = throttles_.find(key); found != throttles_.end()) return found->second;
  if (!authority.empty()) {
    if (authorities_ >= max_authorities_) return nullptr;
    ++authorities_;
  }
  return throttles_.emplace(key, std::make_shared<AdaptiveThrottle>(policy, workers_))
      .first->second;
}

void ThrottleTable::SetMaxAuthorities(int max_authorities) {
  const std::lock_guard lock(mutex_);
  max_authorities_ = max_authorities;
}

// The lock is held.
void ThrottleTable::Forget(Instant now) {
  next_forgetting_ = now + kForgetThrottlesEvery;
  std::erase_if(throttles_, [&](const auto& entry) {
    if (entry.second.use_count() > 1 || entry.second->Probability(now) > 0) return false;
    if (!std::get<1>(entry.first).empty()) --authorities_;
    return true;
  });
}

std::map<std::string, double> ThrottleTable::Probabilities(Instant now) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, double> probabilities;
  for (const auto& [key, throttle] : throttles_) {
    double& largest = probabilities[std::get<0>(key)];
    largest = std::max(largest, throttle->Probability(now));
  }
  return probabilities;
}

}  // namespace levee
