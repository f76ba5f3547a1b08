// SPDX-License-Identifier: Apache-2.0
// The adaptive throttles of all destinations, shared by the workers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/adaptive_throttle.h"

namespace levee {

// Hands out one throttle per destination and throttle policy, as BudgetTable does with budgets. A
// throttle lives while a worker uses it, and for as long as it would reject calls. Any thread;
// locks, so workers ask once per destination.
class ThrottleTable {
 public:
  // `max_authorities`: how many throttles destinations with an authority may have in all.
  ThrottleTable(int workers, int max_authorities)
      : workers_(workers), max_authorities_(max_authorities) {}

  // Throttles that exist already stay.
  void SetMaxAuthorities(int max_authorities);

  // `authority`: empty unless the upstream dials it. nullptr: there are too many. Calls to such a
  // destination are all sent, since one throttle for several would mix their troubles up.
  std::shared_ptr<AdaptiveThrottle> Get(const std::string& upstream, const std::string& authority,
                                        const ThrottlePolicy& policy, Instant now);

  // Drops what no worker uses and what rejects nothing. Get does so now and then.
  void ForgetUnused(Instant now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
  }

  // Returns the largest probability of each upstream that has a throttle.
  std::map<std::string, double> Probabilities(Instant now) const;

 private:
  // Upstream, authority and the numbers of the policy.
  using Key = std::tuple<std::string, std::string, double, absl::Duration, int, bool, bool, bool,
                         bool, ThrottleMode>;

  void Forget(Instant now);

  const int workers_;
  mutable std::mutex mutex_;
  int max_authorities_;
  std::map<Key, std::shared_ptr<AdaptiveThrottle>> throttles_;
  int authorities_ = 0;  // entries of throttles_ that have one
  Instant next_forgetting_;
};

}  // namespace levee
