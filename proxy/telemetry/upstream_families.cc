// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string_view>
#include <vector>

#include "telemetry/families.h"

namespace levee {
namespace {

using prometheus::MetricType;

// Collects a family whose only label is `upstream`.
template <typename Member>
void CollectByUpstream(const std::vector<UpstreamRow>& rows, Member UpstreamSeries::*member,
                       MetricType type, std::string_view name, std::string_view help,
                       FamilySink sink) {
  Family family(sink, type, name, help);
  for (const UpstreamRow& row : rows) {
    if constexpr (requires(Member cell) { cell.ReadSum(); }) {
      family.Add({{"upstream", row.first}}, AddUp(row.shards, member).Exposed(kNanosPerSecond));
    } else {
      family.Add({{"upstream", row.first}}, Sum(row.shards, member));
    }
  }
}

// The sums over the methods of each upstream.
struct Times {
  HistogramSum<MethodSeries::Durations> attempts;
  HistogramSum<Histogram<kDelayBounds>> retry_delay;
};

std::map<std::string_view, Times> TimesByUpstream(const std::vector<UpstreamRow>& upstreams,
                                                  const std::vector<MethodRow>& methods) {
  std::map<std::string_view, Times> times;
  for (const UpstreamRow& row : upstreams) times.try_emplace(row.first);
  for (const MethodRow& row : methods) {
    Times& sum = times[row.first];
    for (StatusCode code : kAllOf<StatusCode, kStatusCodes>) {
      sum.attempts.Add(AddUp(row.shards, &MethodSeries::attempts, CallKind::kUnary, code));
    }
    sum.retry_delay.Add(AddUp(row.shards, &MethodSeries::retry_delay));
  }
  return times;
}

void CollectTimes(const std::vector<UpstreamRow>& upstreams, const std::vector<MethodRow>& methods,
                  FamilySink sink) {
  const auto times = TimesByUpstream(upstreams, methods);
  Family attempts(sink, MetricType::Histogram, "levee_attempt_duration_seconds",
                  "Time from the start of a unary call's attempt to its end.");
  Family delays(sink, MetricType::Histogram, "levee_call_retry_delay_seconds",
                "Time that a retried call spent with no attempt active.");
  for (const auto& [upstream, sum] : times) {
    attempts.Add({{"upstream", upstream}}, sum.attempts.Exposed(kNanosPerSecond));
    delays.Add({{"upstream", upstream}}, sum.retry_delay.Exposed(kNanosPerSecond));
  }
}

void CollectUpstreamRetries(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  CollectByUpstream(rows, &UpstreamSeries::retry_backoff, MetricType::Histogram,
                    "levee_retry_backoff_seconds",
                    "Delays before retries, as chosen by backoff or advice.", sink);
  CollectByUpstream(rows, &UpstreamSeries::transparent_retries, MetricType::Counter,
                    "levee_transparent_retries_total",
                    "Retries of requests that surely were not processed, also counted in "
                    "levee_retries_total.",
                    sink);
}

void CollectStreamEnds(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family ended(sink, MetricType::Counter, "levee_streams_ended_total",
               "Streams that a bound of their policy ended.");
  for (const UpstreamRow& row : rows) {
    for (const StreamBound bound : kAllOf<StreamBound, kStreamBounds>) {
      ended.Add({{"upstream", row.first}, {"by", StreamBoundName(bound)}},
                Sum(row.shards, &UpstreamSeries::streams_ended, bound));
    }
  }
}

void CollectWaits(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family waits(sink, MetricType::Counter, "levee_retries_waited_total",
               "Waits of retries for a success to pay for them, by how they ended.");
  for (const UpstreamRow& row : rows) {
    for (const WaitEnd end : kAllOf<WaitEnd, kWaitEnds>) {
      waits.Add({{"upstream", row.first}, {"result", WaitEndName(end)}},
                Sum(row.shards, &UpstreamSeries::waits, end));
    }
  }
  CollectByUpstream(rows, &UpstreamSeries::retry_wait, MetricType::Histogram,
                    "levee_retry_wait_seconds",
                    "Time that retries waited for a success to pay for them.", sink);
}

void CollectAppRetries(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family app(sink, MetricType::Counter, "levee_app_retries_total",
             "Calls that arrived as the application's own retries.");
  for (const UpstreamRow& row : rows) {
    for (AppRetrySign sign : kAllOf<AppRetrySign, kAppRetrySigns>) {
      const std::string_view seen_by = AppRetrySignName(sign);
      app.Add({{"upstream", row.first}, {"action", "admitted"}, {"seen_by", seen_by}},
              Sum(row.shards, &UpstreamSeries::app_retries_admitted, sign));
      app.Add({{"upstream", row.first}, {"action", "refused"}, {"seen_by", seen_by}},
              Sum(row.shards, &UpstreamSeries::app_retries_refused, sign));
    }
  }
}

void CollectMarks(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family marks(sink, MetricType::Counter, "levee_overload_marks_total",
               "Answers that said not to retry, received from upstreams and sent to callers.");
  for (const UpstreamRow& row : rows) {
    for (OverloadScope scope : kAllOf<OverloadScope, kOverloadScopes>) {
      const std::string_view name = OverloadScopeName(scope);
      marks.Add({{"upstream", row.first}, {"direction", "received"}, {"scope", name}},
                Sum(row.shards, &UpstreamSeries::marks_received, scope));
      marks.Add({{"upstream", row.first}, {"direction", "sent"}, {"scope", name}},
                Sum(row.shards, &UpstreamSeries::marks_sent, scope));
    }
  }
}

void CollectThrottle(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family throttle(sink, MetricType::Counter, "levee_throttle_decisions_total",
                  "Calls that the adaptive throttle admitted, rejected, or would have rejected.");
  for (const UpstreamRow& row : rows) {
    for (ThrottleDecision decision : kAllOf<ThrottleDecision, kThrottleDecisions>) {
      throttle.Add({{"upstream", row.first}, {"decision", ThrottleDecisionName(decision)}},
                   Sum(row.shards, &UpstreamSeries::throttle, decision));
    }
  }
}

void CollectConnections(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  CollectByUpstream(rows, &UpstreamSeries::connections, MetricType::Gauge,
                    "levee_upstream_connections", "Open connections to endpoints.", sink);
}

void CollectEndpoints(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family endpoints(
      sink, MetricType::Gauge, "levee_endpoints",
      "Endpoints by state. One that workers see differently has the best of its states.");
  for (const UpstreamRow& row : rows) {
    const EndpointCensus::Counts counts = CountEndpoints(row);
    for (EndpointState state : kAllOf<EndpointState, kEndpointStates>) {
      endpoints.Add({{"upstream", row.first}, {"state", EndpointStateName(state)}},
                    static_cast<double>(counts[static_cast<size_t>(state)]));
    }
  }
}

}  // namespace

EndpointCensus::Counts CountEndpoints(const UpstreamRow& upstream) {
  std::vector<const EndpointCensus*> workers;
  for (const UpstreamSeries& shard : upstream.shards) workers.push_back(&shard.endpoints);
  return EndpointCensus::Count(workers);
}

void CollectUpstreams(const std::vector<UpstreamRow>& rows, const std::vector<MethodRow>& methods,
                      FamilySink sink) {
  CollectTimes(rows, methods, sink);
  CollectStreamEnds(rows, sink);
  CollectUpstreamRetries(rows, sink);
  CollectWaits(rows, sink);
  CollectAppRetries(rows, sink);
  CollectMarks(rows, sink);
  CollectThrottle(rows, sink);
  CollectConnections(rows, sink);
  CollectEndpoints(rows, sink);
}

}  // namespace levee
