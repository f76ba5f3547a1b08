// SPDX-License-Identifier: Apache-2.0
// How upstreams that a reload took out of the configuration leave the metrics.
#include <algorithm>
#include <numeric>

#include "telemetry/exposition.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

// Grows with everything that is of interest: calls that end, and requests for series, which precede
// calls.
uint64_t EventsOf(const std::vector<MethodRow>& methods, const UpstreamRow& upstream) {
  uint64_t events = upstream.requests;
  for (const MethodRow& row : methods) {
    events += row.requests;
    for (StatusCode code : kAllOf<StatusCode, kStatusCodes>) {
      events += AddUp(row.shards, &MethodSeries::calls, code).count();
    }
  }
  return events;
}

// Whoever may still end a call has an endpoint, as a rule a connection.
bool InUse(const UpstreamRow& upstream) {
  const auto states = kAllOf<EndpointState, kEndpointStates>;
  return Sum(upstream.shards, &UpstreamSeries::connections) != 0 ||
         std::any_of(states.begin(), states.end(), [&](EndpointState state) {
           return Sum(upstream.shards, &UpstreamSeries::endpoints, state) != 0;
         });
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
    quiet.looks = events == quiet.events && !InUse(upstream) ? quiet.looks + 1 : 0;
    quiet.events = events;
    if (quiet.looks < kQuietLooks) continue;
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
