// SPDX-License-Identifier: Apache-2.0
// The adaptive throttles of all destinations, shared by the workers.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>

#include "base/instant.h"
#include "base/shared_table.h"
#include "policy/adaptive_throttle.h"

namespace levee {

// Hands out one throttle per destination and throttle policy, as BudgetTable does with budgets. A
// throttle lives while a worker uses it, and for as long as it would reject calls. Any thread;
// locks, so workers ask once per destination.
class ThrottleTable {
 public:
  // `max_authorities`: how many throttles destinations with an authority may have in all.
  ThrottleTable(int workers, int max_authorities);

  // Throttles that exist already stay.
  void SetMaxAuthorities(int max_authorities) { throttles_.SetMost(max_authorities); }

  // `authority`: empty unless the upstream dials it. nullptr: there are too many. Calls to such a
  // destination are all sent, since one throttle for several would mix their troubles up.
  std::shared_ptr<AdaptiveThrottle> Get(const std::string& upstream, const std::string& authority,
                                        const ThrottlePolicy& policy, Instant now);

  // Drops what no worker uses and what rejects nothing. Get does so now and then.
  void ForgetUnused(Instant now) { throttles_.ForgetUnused(now); }

  // Returns the largest probability of each upstream that has a throttle.
  std::map<std::string, double> Probabilities(Instant now) const;

 private:
  struct Key {
    std::string upstream;
    std::string authority;
    ThrottlePolicy policy;
    friend std::partial_ordering operator<=>(const Key&, const Key&) = default;
  };

  const int workers_;
  SharedTable<Key, AdaptiveThrottle> throttles_;
};

}  // namespace levee
