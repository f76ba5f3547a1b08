// SPDX-License-Identifier: Apache-2.0
// Counts the time series of a new row by collecting an empty one, so that the number never differs
// from what is printed.
#include <array>

#include "telemetry/families.h"

namespace levee {
namespace {

// available, at_once, limit, floor_withheld, waiting.
constexpr int64_t kBudgetGauges = 5;
// probability.
constexpr int64_t kThrottleGauges = 1;
// limit, in_flight, streams, queue_length, reported_retry_share.
constexpr int64_t kGuardGauges = 5;
// keys, bytes, evicted_total.
constexpr int64_t kDedupeGauges = 3;
// admitted, delayed, rejected.
constexpr int64_t kRateLimitDecisions = 3;

int64_t CountOf(absl::FunctionRef<void(FamilySink)> collect) {
  int64_t series = 0;
  collect([&](const prometheus::MetricFamily& family) { series += CountSeries(family); });
  return series;
}

}  // namespace

SeriesCost CostOfRows(bool otel_names) {
  const std::array<MethodSeries, 1> method;
  const std::array<UpstreamSeries, 1> upstream;
  const std::vector<MethodRow> methods = {{"upstream", "method", method}};
  const auto nothing = [](const MethodRow&, int, int64_t) { return false; };
  SeriesCost cost;
  cost.unrouted = CountOf([&](FamilySink sink) { CollectCalls(methods, nothing, sink); });
  cost.method = CountOf([&](FamilySink sink) {
    CollectCalls(methods, nothing, sink);
    CollectAttempts(methods, nothing, sink);
    if (otel_names) CollectOtel(methods, nothing, sink);
  });
  cost.upstream = kBudgetGauges + kThrottleGauges + CountOf([&](FamilySink sink) {
                    CollectUpstreams({{"upstream", "", upstream}}, {}, sink);
                  });
  cost.rate_limit = kRateLimitDecisions;
  const std::array<GuardSeries, 1> guard;
  cost.guard = kGuardGauges + CountOf([&](FamilySink sink) {
                 CollectGuards({{"upstream", "", guard}}, sink);
               });
  cost.dedupe = kDedupeGauges + kDedupeResults;
  const std::array<StoreSeries, 1> store;
  cost.store = CountOf([&](FamilySink sink) { CollectStores({{"store", "", store}}, sink); });
  return cost;
}

}  // namespace levee
