// SPDX-License-Identifier: Apache-2.0
// Reads single values out of Prometheus' text format.
#pragma once

#include <string_view>

#include "demo/run_record.h"

namespace levee::demo {

// Returns the sum of all series of the metric whose labels contain `labels`, text like
// `reason="budget"`. Empty `labels`: the sum of all its series. 0 if there are none.
double SumOf(std::string_view text, std::string_view metric, std::string_view labels);

// Reads the state of the retry budget from Levee's /metrics.
BudgetState ReadBudget(std::string_view text);

// Reads the state of the guard, of all upstreams together, from the same.
GuardState ReadGuard(std::string_view text);

}  // namespace levee::demo
