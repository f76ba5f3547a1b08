// SPDX-License-Identifier: Apache-2.0
#include "demo/metrics_text.h"

#include <algorithm>

namespace levee::demo {

double SumOf(const std::vector<MetricSample>& samples, std::string_view metric,
             const MetricLabels& labels) {
  double sum = 0;
  for (const MetricSample& sample : samples) {
    const bool wanted =
        sample.name == metric &&
        std::includes(sample.labels.begin(), sample.labels.end(), labels.begin(), labels.end());
    if (wanted) sum += sample.value;
  }
  return sum;
}

BudgetState ReadBudget(std::string_view text) {
  const std::vector<MetricSample> samples = ReadExposition(text);
  return {.available = SumOf(samples, "levee_retry_budget_available"),
          .at_once = SumOf(samples, "levee_retry_budget_at_once"),
          .refused = SumOf(samples, "levee_retries_refused_total", {{"reason", "budget"}})};
}

GuardState ReadGuard(std::string_view text) {
  const std::vector<MetricSample> samples = ReadExposition(text);
  return {.attempts = SumOf(samples, "levee_guard_arrivals_total"),
          .refused = SumOf(samples, "levee_guard_calls_total", {{"decision", "refused"}}),
          .limit = SumOf(samples, "levee_guard_limit"),
          .in_flight = SumOf(samples, "levee_guard_in_flight"),
          .waiting = SumOf(samples, "levee_guard_queue_length")};
}

}  // namespace levee::demo
