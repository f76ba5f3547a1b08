// Reads single values out of Prometheus' text format.
#pragma once

#include <string_view>

#include "demo/run_record.h"

namespace levee::demo {

// The sum of all series of the metric whose labels contain `labels`, text like `reason="budget"`;
// empty: of all its series. Without any: 0.
double SumOf(std::string_view text, std::string_view metric, std::string_view labels);

// What Levee's /metrics say of the retry budget.
BudgetState ReadBudget(std::string_view text);

}  // namespace levee::demo
