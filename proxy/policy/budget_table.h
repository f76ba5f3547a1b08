// SPDX-License-Identifier: Apache-2.0
// The retry budgets of all destinations, shared by the workers.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/shared_table.h"
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
  BudgetTable(int workers, int max_authorities);

  // Budgets that exist already stay.
  void SetMaxAuthorities(int max_authorities) { budgets_.SetMost(max_authorities); }

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
    budgets_.ForgetUnused(now);
    rest_.ForgetUnused(now);
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
  struct Key {
    std::string upstream;
    std::string authority;
    RetryBudgetPolicy policy;  // as KeyOf has it
    friend std::partial_ordering operator<=>(const Key&, const Key&) = default;
  };
  using Budgets = SharedTable<Key, RetryBudget>;

  static Key KeyOf(const std::string& upstream, const std::string& authority,
                   const RetryBudgetPolicy& policy);

  const int workers_;
  Budgets budgets_;
  Budgets rest_;  // of the authorities beyond the limit, one per upstream
};

}  // namespace levee
