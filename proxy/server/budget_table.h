// The retry budgets of all destinations, shared by the workers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/instant.h"
#include "policy/retry_budget.h"
#include "telemetry/metrics.h"

namespace levee {

// Hands out one budget per destination and budget policy: policies that agree on the numbers share
// it, others keep accounts of their own for the calls they carry. A budget lives as long as a
// worker uses it. Any thread; locks, so workers ask once per destination.
class BudgetTable {
 public:
  explicit BudgetTable(int workers) : workers_(workers) {}

  std::shared_ptr<RetryBudget> Get(const std::string& upstream, const std::string& authority,
                                   const RetryBudgetPolicy& policy);

  // What the gauges show; one entry per budget.
  std::vector<Metrics::BudgetGauges> Read(Instant now) const;

 private:
  using Key = std::tuple<std::string, std::string, double, absl::Duration, double, double>;

  const int workers_;
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<RetryBudget>> budgets_;
};

}  // namespace levee
