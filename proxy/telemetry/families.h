// SPDX-License-Identifier: Apache-2.0
// The families of calls and of upstreams, as a scrape shows them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "telemetry/exposition.h"
#include "telemetry/series.h"
#include "telemetry/series_table.h"

namespace levee {

using MethodRow = SeriesTable<MethodSeries>::Row;      // by upstream and method
using UpstreamRow = SeriesTable<UpstreamSeries>::Row;  // by upstream

// Returns whether number `number` of the row's optional series may be exported. It stands for
// `series` time series. Optional series are those that exist only once something has happened.
using MayShow = absl::FunctionRef<bool(const MethodRow& row, int number, int64_t series)>;

// The codes that calls and attempts end with.
inline constexpr auto kCodes = kAllOf<StatusCode, kStatusCodes>;

// Returns how many calls or attempts of both kinds ended with `code`.
uint64_t CountOf(const MethodRow& row, MethodSeries::ByKindAndCode MethodSeries::*member,
                 StatusCode code);

// Collects the calls as their callers saw them: levee_calls_total and levee_call_duration_seconds.
void CollectCalls(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink);

// Collects the attempts, the retries, and the retries that were refused, by method.
void CollectAttempts(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink);

// Collects calls and attempts once more under the names of gRPC's own client metrics (gRFC A66 and
// A96), in the spelling that OpenTelemetry's exporter for Prometheus gives them.
void CollectOtel(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink);

// Returns the endpoints of an upstream by their states, over all workers.
EndpointCensus::Counts CountEndpoints(const UpstreamRow& upstream);

// Collects durations, retries, marks, connections and endpoints, by upstream. `methods` are the
// rows of the methods of these upstreams.
void CollectUpstreams(const std::vector<UpstreamRow>& rows, const std::vector<MethodRow>& methods,
                      FamilySink sink);

using GuardRow = SeriesTable<GuardSeries>::Row;  // by upstream

// Collects what guards decided, and how long calls waited for it.
void CollectGuards(const std::vector<GuardRow>& rows, FamilySink sink);

using DedupeRow = SeriesTable<DedupeSeries>::Row;  // by upstream

// Collects what became of calls by their idempotency keys.
void CollectDedupes(const std::vector<DedupeRow>& rows, FamilySink sink);

using ShadowRow = SeriesTable<ShadowSeries>::Row;  // by policy and its shadow

// Collects what shadow policies would have done.
void CollectShadows(const std::vector<ShadowRow>& rows, FamilySink sink);

using StoreRow = SeriesTable<StoreSeries>::Row;  // by store

// Collects what was asked of stores.
void CollectStores(const std::vector<StoreRow>& rows, FamilySink sink);

// Collects the handshakes of TLS that there were. Nothing is shown of connections without TLS.
void CollectTls(const std::vector<UpstreamRow>& upstreams, const std::vector<StoreRow>& stores,
                std::span<const WorkerSeries> workers, FamilySink sink);

// The number of time series that one more row has before anything has happened.
struct SeriesCost {
  int64_t method = 0;
  int64_t unrouted = 0;  // of calls without a route
  int64_t upstream = 0;  // its budget's gauges included
  int64_t rate_limit = 0;
  int64_t guard = 0;   // its gauges included
  int64_t dedupe = 0;  // likewise
  int64_t store = 0;
};
SeriesCost CostOfRows(bool otel_names);

}  // namespace levee
