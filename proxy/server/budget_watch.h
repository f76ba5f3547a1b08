// SPDX-License-Identifier: Apache-2.0
// Tells operators when a retry budget is used up, and when that is over.
#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "conn/http2_connection.h"
#include "log/conditions.h"
#include "policy/retry_budget.h"
#include "server/call_plan.h"

namespace levee {

// One worker's watch. A budget counts as used up from the first retry that it refuses until it has
// refused none for kQuiet. Nothing runs while no budget refuses anything. One thread.
class BudgetWatch final : private Timer {
 public:
  // As long as the usual window, in which a budget fills again.
  static constexpr absl::Duration kQuiet = absl::Seconds(10);

  // `io` outlives it.
  explicit BudgetWatch(WorkerIo& io) : io_(io) {}

  // The budget of calls to `destination` has refused a retry.
  void OnRefused(const std::shared_ptr<RetryBudget>& budget, const Destination& destination);

 private:
  struct Watched {
    std::shared_ptr<RetryBudget> budget;
    Instant refused_at;  // the last time
    Condition condition{ConditionKind::kBudgetExhausted};
  };

  void OnTimer(Instant now) override;

  WorkerIo& io_;
  absl::flat_hash_map<const RetryBudget*, std::unique_ptr<Watched>> watched_;
};

}  // namespace levee
