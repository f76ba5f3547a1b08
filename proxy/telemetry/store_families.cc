// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {

void CollectStores(const std::vector<StoreRow>& rows, FamilySink sink) {
  using prometheus::MetricType;
  Family requests(sink, MetricType::Counter, "levee_store_requests_total",
                  "Requests to stores, by how they ended.");
  for (const StoreRow& row : rows) {
    for (StoreResult result : kAllOf<StoreResult, kStoreResults>) {
      requests.Add({{"store", row.first}, {"result", StoreResultName(result)}},
                   Sum(row.shards, &StoreSeries::requests, result));
    }
  }
  Family seconds(sink, MetricType::Histogram, "levee_store_seconds", "Time until stores replied.");
  for (const StoreRow& row : rows) {
    seconds.Add({{"store", row.first}},
                AddUp(row.shards, &StoreSeries::seconds).Exposed(kNanosPerSecond));
  }
  Family connected(sink, MetricType::Gauge, "levee_store_connected",
                   "Whether requests can be sent to a store.");
  for (const StoreRow& row : rows) {
    connected.Add({{"store", row.first}}, Sum(row.shards, &StoreSeries::connected));
  }
}

std::vector<StoreTotals> Metrics::Stores() const {
  std::vector<StoreTotals> totals;
  for (const StoreRow& row : stores_.Rows()) {
    StoreTotals& total = totals.emplace_back();
    total.store = row.first;
    for (StoreResult result : kAllOf<StoreResult, kStoreResults>) {
      total.requests[result] = Sum(row.shards, &StoreSeries::requests, result);
    }
    total.durations = AddUp(row.shards, &StoreSeries::seconds).buckets();
  }
  return totals;
}

}  // namespace levee
