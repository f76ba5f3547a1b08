// SPDX-License-Identifier: Apache-2.0
// Calls against a failing upstream on virtual time, with nothing but the budget and the backoff
// between them.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "policy/backoff.h"
#include "policy/retry_budget.h"

namespace levee {

// One attempt that is about to be made.
struct SimulatedAttempt {
  int call = 0;
  int n = 1;  // 1-based
};

struct Workload {
  double calls_per_second = 1;  // evenly spaced
  int calls = 300;
  int max_attempts = 4;
  int workers = 1;  // calls go to them in turn
  uint64_t seed = 1;
  std::function<bool(const SimulatedAttempt&, Random&)> succeeds;
};

struct SimulationResult {
  int calls = 0;
  int attempts = 0;
  int failed_first = 0;  // calls whose first attempt failed
  int rescued = 0;       // of those, the ones that a retry saved
  double AttemptsPerCall() const { return static_cast<double>(attempts) / calls; }
  double Rescued() const { return static_cast<double>(rescued) / failed_first; }
};

// An attempt ends as it starts; a retry waits for the backoff of section A of the checks (full
// jitter, 100 ms to 1 s) if the budget allows it, else the call fails at once.
SimulationResult Simulate(const RetryBudgetPolicy& policy, const Workload& workload);

}  // namespace levee
