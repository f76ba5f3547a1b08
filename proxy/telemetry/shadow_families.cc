// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exposition.h"
#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {

void CollectShadows(const std::vector<ShadowRow>& rows, FamilySink sink) {
  Family decisions(sink, prometheus::MetricType::Counter, "levee_shadow_decisions_total",
                   "Calls by the attempts that the shadow of their policy would have made.");
  for (const ShadowRow& row : rows) {
    for (ShadowOutcome outcome : kAllOf<ShadowOutcome, kShadowOutcomes>) {
      decisions.Add({{"policy", row.first},
                     {"shadow", row.second},
                     {"outcome", ShadowOutcomeName(outcome)}},
                    Sum(row.shards, &ShadowSeries::calls, outcome));
    }
  }
}

std::vector<Metrics::ShadowTotals> Metrics::Shadows() const {
  std::vector<ShadowTotals> totals;
  for (const ShadowRow& row : shadows_.Rows()) {
    ShadowTotals& total = totals.emplace_back();
    total.policy = row.first;
    total.shadow = row.second;
    for (ShadowOutcome outcome : kAllOf<ShadowOutcome, kShadowOutcomes>) {
      total.calls[outcome] = Sum(row.shards, &ShadowSeries::calls, outcome);
    }
  }
  return totals;
}

}  // namespace levee
