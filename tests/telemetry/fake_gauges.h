// SPDX-License-Identifier: Apache-2.0
// Gauges whose values the test sets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "telemetry/gauge_source.h"

namespace levee {

class FakeGauges final : public GaugeSource {
 public:
  std::vector<BudgetGauges> Budgets() const override { return budgets; }
  std::map<std::string, double> Throttles() const override { return throttles; }
  std::map<std::string, GuardState> Guards() const override { return guards; }
  std::map<std::string, DedupeGauges> Keys() const override { return keys; }
  std::map<std::string, LeaseState> Leases() const override { return leases; }
  int64_t ReplayBytes() const override { return replay_bytes(); }
  MemoryGauges Memory() const override { return {}; }
  LostLines Lost() const override { return lost(); }

  std::vector<BudgetGauges> budgets;
  std::map<std::string, double> throttles;
  std::map<std::string, GuardState> guards;
  std::map<std::string, DedupeGauges> keys;
  std::map<std::string, LeaseState> leases;
  std::function<int64_t()> replay_bytes = [] { return 0; };
  std::function<LostLines()> lost = [] { return LostLines(); };
};

}  // namespace levee
