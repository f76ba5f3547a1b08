// The families of calls and of upstreams, as a scrape shows them.
#pragma once

#include <vector>

#include "telemetry/exposition.h"
#include "telemetry/series.h"
#include "telemetry/series_table.h"

namespace levee {

using MethodRow = SeriesTable<MethodSeries>::Row;      // by upstream and method
using UpstreamRow = SeriesTable<UpstreamSeries>::Row;  // by upstream

// What the caller sees: levee_calls_total and levee_call_duration_seconds.
void CollectCalls(const std::vector<MethodRow>& rows, FamilySink sink);

// What it took: attempts, retries and those refused, by method.
void CollectAttempts(const std::vector<MethodRow>& rows, FamilySink sink);

// Times, retries, marks, connections and endpoints, by upstream.
void CollectUpstreams(const std::vector<UpstreamRow>& rows, FamilySink sink);

}  // namespace levee
