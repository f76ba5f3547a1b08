// SPDX-License-Identifier: Apache-2.0
#include "demo/metrics_text.h"

#include <cstdlib>
#include <string>

namespace levee::demo {
namespace {

// Splits `name{labels} value`. Returns false if the line belongs to another metric or is a comment.
bool SplitSeries(std::string_view line, std::string_view metric, std::string_view& labels,
                 std::string_view& value) {
  if (!line.starts_with(metric)) return false;
  line.remove_prefix(metric.size());
  labels = {};
  if (line.starts_with('{')) {
    // A label's value may contain a brace, but only the series' value follows the last one.
    const size_t end = line.rfind('}');
    if (end == std::string_view::npos) return false;
    labels = line.substr(1, end - 1);
    line.remove_prefix(end + 1);
  }
  value = line;
  return value.starts_with(' ');
}

}  // namespace

double SumOf(std::string_view text, std::string_view metric, std::string_view labels) {
  double sum = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::string_view found;
    std::string_view value;
    if (SplitSeries(line, metric, found, value) && found.find(labels) != std::string_view::npos) {
      sum += std::strtod(std::string(value).c_str(), nullptr);
    }
  }
  return sum;
}

BudgetState ReadBudget(std::string_view text) {
  return {.available = SumOf(text, "levee_retry_budget_available", ""),
          .at_once = SumOf(text, "levee_retry_budget_at_once", ""),
          .refused = SumOf(text, "levee_retries_refused_total", "reason=\"budget\"")};
}

GuardState ReadGuard(std::string_view text) {
  return {.attempts = SumOf(text, "levee_guard_arrivals_total", ""),
          .refused = SumOf(text, "levee_guard_calls_total", "decision=\"refused\""),
          .limit = SumOf(text, "levee_guard_limit", ""),
          .in_flight = SumOf(text, "levee_guard_in_flight", ""),
          .waiting = SumOf(text, "levee_guard_queue_length", "")};
}

}  // namespace levee::demo
