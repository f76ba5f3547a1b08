// The rate limiters of all policies, shared by the workers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "policy/rate_limiter.h"

namespace levee {

// Hands out one limiter per policy and limit: that is whose calls share it. A limiter lives as long
// as somebody uses it, and a limit with other numbers is another one. Any thread; locks, so workers
// ask once per plan.
class RateLimitTable {
 public:
  std::shared_ptr<RateLimiter> Get(const std::string& policy, const RateLimitPolicy& limit) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<RateLimiter>& entry = limiters_[{policy, limit.name}];
    std::shared_ptr<RateLimiter> limiter = entry.lock();
    if (limiter == nullptr || !(limiter->policy() == limit)) {
      limiter = std::make_shared<RateLimiter>(limit);
      entry = limiter;
    }
    return limiter;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<RateLimiter>> limiters_;
};

}  // namespace levee
