// SPDX-License-Identifier: Apache-2.0
// Reads single values out of Prometheus' text format.
#pragma once

#include <string_view>
#include <vector>

#include "base/exposition.h"
#include "demo/run_record.h"

namespace levee::demo {

// Returns the sum of all series of the metric that have these labels, among others; 0 if there are
// none.
double SumOf(const std::vector<MetricSample>& samples, std::string_view metric,
             const MetricLabels& labels = {});

// Reads the state of the retry budget from Levee's /metrics.
BudgetState ReadBudget(std::string_view text);

// Reads the state of the guard, of all upstreams together, from the same.
GuardState ReadGuard(std::string_view text);

}  // namespace levee::demo
