// SPDX-License-Identifier: Apache-2.0
#include "policy/budget_simulation.h"

#include <queue>

namespace levee {
namespace {

struct Event {
  Instant time;
  SimulatedAttempt attempt;
  bool operator<(const Event& other) const {
    if (time != other.time) return time > other.time;
    return attempt.call > other.attempt.call;
  }
};

}  // namespace

SimulationResult Simulate(const RetryBudgetPolicy& policy, const Workload& workload) {
  Random random(workload.seed);
  RetryBudget budget(policy, workload.workers);
  BackoffPolicy backoff_policy;
  backoff_policy.initial = absl::Milliseconds(100);
  std::vector<Backoff> backoffs(workload.calls);
  std::priority_queue<Event> events;
  for (int call = 0; call < workload.calls; ++call) {
    events.push({Instant() + absl::Seconds(call / workload.calls_per_second), {call, 1}});
  }

  SimulationResult result;
  result.calls = workload.calls;
  while (!events.empty()) {
    const auto [now, attempt] = events.top();
    events.pop();
    const int worker = attempt.call % workload.workers;
    const bool retry = attempt.n > 1;
    ++result.attempts;
    if (!retry) budget.Deposit(worker, now);
    const bool success = workload.succeeds(attempt, random);
    budget.RecordEnd({.success = success, .price = retry ? 1 : 0}, now);
    if (success) {
      result.rescued += retry ? 1 : 0;
      continue;
    }
    result.failed_first += retry ? 0 : 1;
    if (attempt.n >= workload.max_attempts) continue;
    const absl::Duration delay = backoffs[attempt.call].Next(backoff_policy, random);
    if (budget.Withdraw(worker, now)) events.push({now + delay, {attempt.call, attempt.n + 1}});
  }
  return result;
}

}  // namespace levee
