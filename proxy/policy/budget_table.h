// SPDX-License-Identifier: Apache-2.0
// The retry budgets of all destinations, shared by the workers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/instant.h"
#include "policy/retry_budget.h"

namespace levee {

// Hands out one budget per destination and budget policy: policies that agree on the numbers share
// it, others keep accounts of their own for the calls they carry. A budget lives while a worker
// uses it and for as long as its window has something in it, so that whoever makes up authorities,
// to push others out of the workers' bounded memory, resets no account. Any thread; locks, so
// workers ask once per destination.
class BudgetTable {
 public:
  // `max_authorities`: how many budgets destinations with an authority may have in all.
  BudgetTable(int workers, int max_authorities)
      : workers_(workers), max_authorities_(max_authorities) {}

  // Budgets that exist already stay.
  void SetMaxAuthorities(int max_authorities);

  struct Account {
    std::shared_ptr<RetryBudget> budget;
    // There are too many: it is the one, without floor, that all others of the upstream share.
    bool over_limit = false;
  };

  // `authority`: empty unless the upstream dials it.
  Account Get(const std::string& upstream, const std::string& authority,
              const RetryBudgetPolicy& policy, Instant now);

  // Drops what no worker uses and what says nothing any more. Get does so now and then.
  void ForgetUnused(Instant now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
  }

  // One budget of an upstream, for people.
  struct View {
    std::string upstream;
    double ratio = 0;
    RetryBudget::State state;
  };

  // Returns the budgets that are in use or have something in their window. An upstream of which no
  // budget has, has one of those that are in use.
  std::vector<View> Views(Instant now) const;

 private:
  // Upstream, authority and the numbers of the policy.
  using Key = std::tuple<std::string, std::string, double, absl::Duration, double, double, double,
                         absl::Duration, absl::Duration>;
  using Budgets = std::map<Key, std::shared_ptr<RetryBudget>>;

  static Key KeyOf(const std::string& upstream, const std::string& authority,
                   const RetryBudgetPolicy& policy);
  void Forget(Instant now);

  const int workers_;
  mutable std::mutex mutex_;
  int max_authorities_;
  Budgets budgets_;
  Budgets shared_;
  int authorities_ = 0;  // entries of budgets_ that have one
  Instant next_forgetting_;
};

}  // namespace levee
