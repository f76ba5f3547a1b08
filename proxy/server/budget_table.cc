#include "server/budget_table.h"

#include <algorithm>

namespace levee {

std::shared_ptr<RetryBudget> BudgetTable::Get(const std::string& upstream,
                                              const std::string& authority,
                                              const RetryBudgetPolicy& policy) {
  const std::lock_guard lock(mutex_);
  // What no worker uses any more is dropped here, so that the table is bounded by their bounds.
  std::erase_if(budgets_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<RetryBudget>& entry = budgets_[{upstream, authority, policy.ratio, policy.window,
                                                policy.floor_per_second, policy.floor_min_success}];
  std::shared_ptr<RetryBudget> budget = entry.lock();
  if (budget == nullptr) {
    budget = std::make_shared<RetryBudget>(policy, workers_);
    entry = budget;
  }
  return budget;
}

std::vector<Metrics::BudgetGauges> BudgetTable::Read(Instant now) const {
  const std::lock_guard lock(mutex_);
  std::vector<Metrics::BudgetGauges> gauges;
  std::vector<Metrics::BudgetGauges> unused;
  for (const auto& [key, entry] : budgets_) {
    const std::shared_ptr<RetryBudget> budget = entry.lock();
    if (budget == nullptr) continue;
    const RetryBudget::State state = budget->Read(now);
    const bool used = state.calls > 0 || state.retries > 0;
    (used ? gauges : unused)
        .push_back({.upstream = std::get<0>(key),
                    .available = state.available,
                    .limit = state.limit,
                    .floor_withheld = state.floor_withheld});
  }
  // A budget that no call uses speaks for its upstream only if there is no other.
  for (const Metrics::BudgetGauges& gauge : unused) {
    const bool known = std::any_of(gauges.begin(), gauges.end(), [&](const auto& other) {
      return other.upstream == gauge.upstream;
    });
    if (!known) gauges.push_back(gauge);
  }
  return gauges;
}

}  // namespace levee
