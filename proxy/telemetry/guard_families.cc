// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using prometheus::MetricType;

// `keys`: of ReadCell, but for the band.
template <typename Member, typename... Keys>
void CollectDecision(Family& calls, const GuardRow& row, std::string_view decision,
                     std::string_view reason, Member GuardSeries::*member, Keys... keys) {
  for (PriorityBand band : kAllOf<PriorityBand, kPriorityBands>) {
    calls.Add({{"upstream", row.first},
               {"decision", decision},
               {"reason", reason},
               {"priority", PriorityBandName(band)}},
              Sum(row.shards, member, keys..., band));
  }
}

}  // namespace

void CollectGuards(const std::vector<GuardRow>& rows, FamilySink sink) {
  Family calls(sink, MetricType::Counter, "levee_guard_calls_total",
               "Calls that the guard admitted at once, let wait for a slot, or refused.");
  for (const GuardRow& row : rows) {
    CollectDecision(calls, row, "admitted", "none", &GuardSeries::admitted);
    CollectDecision(calls, row, "queued", "none", &GuardSeries::queued);
    for (GuardReason reason : kAllOf<GuardReason, kGuardReasons>) {
      CollectDecision(calls, row, "refused", GuardReasonName(reason), &GuardSeries::refused,
                      reason);
    }
  }
  Family arrivals(sink, MetricType::Counter, "levee_guard_arrivals_total",
                  "Calls that came to the guard, by the attempts that their callers made before.");
  for (const GuardRow& row : rows) {
    for (ArrivalClass arrival : kAllOf<ArrivalClass, kArrivalClasses>) {
      arrivals.Add({{"upstream", row.first}, {"attempt", ArrivalClassName(arrival)}},
                   Sum(row.shards, &GuardSeries::arrivals, arrival));
    }
  }
  Family waits(sink, MetricType::Histogram, "levee_guard_queue_seconds",
               "Time that calls waited for a slot of the guard, or for their refusal.");
  for (const GuardRow& row : rows) {
    waits.Add({{"upstream", row.first}},
              AddUp(row.shards, &GuardSeries::waits).Exposed(kNanosPerSecond));
  }
}

void CollectDedupes(const std::vector<DedupeRow>& rows, FamilySink sink) {
  Family calls(sink, MetricType::Counter, "levee_dedupe_calls_total",
               "Calls with an idempotency key, or that needed one, by what became of them.");
  for (const DedupeRow& row : rows) {
    for (DedupeResult result : kAllOf<DedupeResult, kDedupeResults>) {
      calls.Add({{"upstream", row.first}, {"result", DedupeResultName(result)}},
                Sum(row.shards, &DedupeSeries::calls, result));
    }
  }
}

std::map<std::string, Metrics::DedupeTotals> Metrics::Dedupes() const {
  std::map<std::string, DedupeTotals> totals;
  for (const DedupeRow& row : dedupes_.Rows()) {
    DedupeTotals& total = totals[row.first];
    for (DedupeResult result : kAllOf<DedupeResult, kDedupeResults>) {
      total[result] = Sum(row.shards, &DedupeSeries::calls, result);
    }
  }
  return totals;
}

}  // namespace levee
