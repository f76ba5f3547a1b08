// SPDX-License-Identifier: Apache-2.0
// What the calls of a sidecar share by their policies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/instant.h"
#include "dedupe/dedupe_stores.h"
#include "guard/guard_table.h"
#include "policy/budget_table.h"
#include "policy/rate_limit_table.h"
#include "policy/throttle_table.h"

namespace levee {

// One table for each feature of a policy that calls share. Any thread.
struct PolicyTables {
  struct Parts {
    int workers = 1;
    int max_authorities = 0;  // that callers name, and that have a budget and a throttle
    // Let a worker look soon at what its guards, or its keys, have decided. Any thread calls them.
    std::function<void(int worker)> wake_for_guards;
    std::function<void(int worker)> wake_for_keys;
    GuardTable::MakeRule guard_rule = nullptr;  // nullptr: that of the policy
    LeaseSource* leases = nullptr;              // as RateLimitTable has it
    KeyStore* keys = nullptr;                   // as DedupeStores has it; likewise `seed`
    uint64_t seed = 0;
  };
  explicit PolicyTables(const Parts& parts)
      : budgets(parts.workers, parts.max_authorities),
        shadow_budgets(parts.workers, parts.max_authorities),
        throttles(parts.workers, parts.max_authorities),
        guards(parts.workers, parts.wake_for_guards, parts.guard_rule),
        rate_limits(parts.leases),
        dedupes(parts.workers, parts.wake_for_keys, parts.keys, parts.seed) {}

  // Objects that exist already stay.
  void SetMaxAuthorities(int max_authorities) {
    budgets.SetMaxAuthorities(max_authorities);
    shadow_budgets.SetMaxAuthorities(max_authorities);
    throttles.SetMaxAuthorities(max_authorities);
  }

  // Drops what no worker uses and what says nothing any more, of destinations that callers name.
  void ForgetUnused(Instant now) {
    budgets.ForgetUnused(now);
    shadow_budgets.ForgetUnused(now);
    throttles.ForgetUnused(now);
  }

  BudgetTable budgets;
  BudgetTable shadow_budgets;  // that no call pays from
  ThrottleTable throttles;
  GuardTable guards;
  RateLimitTable rate_limits;
  DedupeStores dedupes;
};

}  // namespace levee
