// SPDX-License-Identifier: Apache-2.0
// Removes the series of upstreams that a reload took out of the configuration.
#include <algorithm>
#include <numeric>

#include "telemetry/exposition.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

// Returns a number that grows with each call that ends, and with each request for series, which
// comes before a call.
uint64_t EventsOf(const std::vector<MethodRow>& methods, const UpstreamRow& upstream) {
  uint64_t events = upstream.requests;
  for (const MethodRow& row : methods) {
    events += row.requests;
    for (StatusCode code : kAllOf<StatusCode, kStatusCodes>) {
      events += CountOf(row, &MethodSeries::calls, code);
    }
  }
  return events;
}

// Returns whether a worker still has an endpoint or a connection of the upstream. Without one, no
// call of the upstream is running.
bool InUse(const UpstreamRow& upstream) {
  const EndpointCensus::Counts endpoints = CountEndpoints(upstream);
  return Sum(upstream.shards, &UpstreamSeries::connections) != 0 ||
         std::any_of(endpoints.begin(), endpoints.end(), [](int64_t n) { return n != 0; });
}

}  // namespace

void Metrics::RemoveQuiet() {
  std::vector<UpstreamRow> upstreams = upstreams_.Rows();
  std::erase_if(upstreams, [this](const UpstreamRow& row) {
    return row.first == kNoUpstream || configured_.contains(row.first);
  });
  std::erase_if(quiet_, [this](const auto& entry) { return configured_.contains(entry.first); });
  if (upstreams.empty()) return;
  std::map<std::string, std::vector<MethodRow>> methods;
  for (MethodRow& row : methods_.Rows()) methods[row.first].push_back(std::move(row));
  for (const UpstreamRow& upstream : upstreams) {
    const std::vector<MethodRow>& of_upstream = methods[upstream.first];
    const uint64_t events = EventsOf(of_upstream, upstream);
    Quiet& quiet = quiet_[upstream.first];
    quiet.checks = events == quiet.events && !InUse(upstream) ? quiet.checks + 1 : 0;
    quiet.events = events;
    if (quiet.checks < kQuietChecks) continue;
    quiet_.erase(upstream.first);
    Remove(of_upstream, upstream);
  }
}

void Metrics::Remove(const std::vector<MethodRow>& methods, const UpstreamRow& upstream) {
  if (!upstreams_.Remove(upstream)) return;
  cap_.Reserve(-cost_.upstream);
  for (const MethodRow& row : methods) {
    if (!methods_.Remove(row)) continue;
    cap_.Reserve(-method_cost_.load());
    cap_.Forget(row.shards.data());
  }
}

}  // namespace levee
