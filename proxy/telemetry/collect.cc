// SPDX-License-Identifier: Apache-2.0
// Collects the families of a scrape.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/exposition.h"
#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using prometheus::MetricType;

void CollectRateLimits(const std::vector<SeriesTable<RateLimitSeries>::Row>& rows,
                       FamilySink sink) {
  Family decisions(sink, MetricType::Counter, "levee_rate_limit_decisions_total",
                   "What rate limits decided.");
  for (const auto& [policy, limit, shards, requests] : rows) {
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "admitted"}},
                  Sum(shards, &RateLimitSeries::admitted));
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "delayed"}},
                  Sum(shards, &RateLimitSeries::delayed));
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "rejected"}},
                  Sum(shards, &RateLimitSeries::rejected));
  }
}

void CollectWorkers(std::span<const WorkerSeries> workers,
                    const ByEnum<uint64_t, Limit, kLimits>& limit_hits, FamilySink sink) {
  Family active(sink, MetricType::Gauge, "levee_active_calls", "Calls in flight.");
  const double streams = Sum(workers, &WorkerSeries::active_streams);
  active.Add({{"kind", CallKindName(CallKind::kUnary)}},
             std::max(0.0, Sum(workers, &WorkerSeries::active_calls) - streams));
  active.Add({{"kind", CallKindName(CallKind::kStream)}}, streams);
  Family(sink, MetricType::Gauge, "levee_downstream_connections", "Open connections of callers.")
      .Add({}, Sum(workers, &WorkerSeries::downstream_connections));
  Family(sink, MetricType::Gauge, "levee_tunnels",
         "Open CONNECT tunnels whose bytes pass untouched, such as TLS.")
      .Add({}, Sum(workers, &WorkerSeries::tunnels));
  Family bytes(sink, MetricType::Counter, "levee_tunnelled_bytes_total",
               "Bytes of such tunnels, toward their destinations and back.");
  bytes.Add({{"direction", "sent"}}, Sum(workers, &WorkerSeries::tunnelled_sent));
  bytes.Add({{"direction", "received"}}, Sum(workers, &WorkerSeries::tunnelled_received));
  Family failures(sink, MetricType::Counter, "levee_tunnel_failures_total",
                  "Tunnels that never reached their destination, by reason.");
  for (TunnelFailure failure : kAllOf<TunnelFailure, kTunnelFailures>) {
    failures.Add({{"reason", TunnelFailureName(failure)}},
                 Sum(workers, &WorkerSeries::tunnel_failures, failure));
  }
  Family hits(sink, MetricType::Counter, "levee_limit_hits_total",
              "How often a named limit was reached.");
  for (Limit limit : kAllOf<Limit, kLimits>) {
    hits.Add({{"limit", LimitName(limit)}}, static_cast<double>(limit_hits[limit]));
  }
  Family rejects(sink, MetricType::Counter, "levee_downstream_rejects_total",
                 "What was refused to callers before it got a route, by reason.");
  for (Reject reject : kAllOf<Reject, kRejects>) {
    rejects.Add({{"reason", RejectName(reject)}}, Sum(workers, &WorkerSeries::rejects, reject));
  }
  Family(sink, MetricType::Counter, "levee_broken_calls_total",
         "Calls that were ended with INTERNAL because the sidecar broke a rule of its own.")
      .Add({}, Sum(workers, &WorkerSeries::broken_calls));
  Family ignored(sink, MetricType::Counter, "levee_guard_headers_ignored_total",
                 "Headers for the guard that could not be read.");
  for (GuardHeader header : kAllOf<GuardHeader, kGuardHeaders>) {
    ignored.Add({{"header", GuardHeaderName(header)}},
                Sum(workers, &WorkerSeries::guard_headers_ignored, header));
  }
  Family ties(sink, MetricType::Counter, "levee_tie_total",
              "What linked calls passed on to each other.");
  for (TieEvent event : kAllOf<TieEvent, kTieEvents>) {
    ties.Add({{"what", TieSubject(event)}, {"result", TieResult(event)}},
             Sum(workers, &WorkerSeries::ties, event));
  }
}

void CollectSpans(std::span<const WorkerSeries> workers, const SpanSeries& series,
                  FamilySink sink) {
  Family spans(sink, MetricType::Counter, "levee_otlp_spans_total",
               "Spans of calls and attempts, by what became of them.");
  for (SpanResult result : kAllOf<SpanResult, kSpanResults>) {
    double count = static_cast<double>(series.spans[result].Read());
    if (result == SpanResult::kDropped) count += Sum(workers, &WorkerSeries::spans_dropped);
    spans.Add({{"result", SpanResultName(result)}}, count);
  }
}

// Returns one budget for each upstream: the one with the fewest retries available, with all that
// wait.
std::map<std::string, BudgetGauges> SmallestBudgets(std::vector<BudgetGauges> budgets) {
  std::map<std::string, BudgetGauges> smallest;
  for (BudgetGauges& budget : budgets) {
    const auto [entry, first] = smallest.try_emplace(budget.upstream, budget);
    const int64_t waiting = budget.waiting + (first ? 0 : entry->second.waiting);
    if (!first && budget.available < entry->second.available) entry->second = std::move(budget);
    entry->second.waiting = waiting;
  }
  return smallest;
}

void CollectBudgets(std::vector<BudgetGauges> budgets, FamilySink sink) {
  const auto smallest = SmallestBudgets(std::move(budgets));
  Family available(sink, MetricType::Gauge, "levee_retry_budget_available",
                   "Retries that the budget would allow now.");
  for (const auto& [upstream, budget] : smallest) {
    available.Add({{"upstream", upstream}}, budget.available);
  }
  Family at_once(sink, MetricType::Gauge, "levee_retry_budget_at_once",
                 "Retries that the budget would allow now if none had been made.");
  for (const auto& [upstream, budget] : smallest) {
    at_once.Add({{"upstream", upstream}}, budget.at_once);
  }
  Family limit(sink, MetricType::Gauge, "levee_retry_budget_limit",
               "Retries that the budget allows in the window.");
  for (const auto& [upstream, budget] : smallest) {
    limit.Add({{"upstream", upstream}}, budget.limit);
  }
  Family withheld(sink, MetricType::Gauge, "levee_retry_budget_floor_withheld",
                  "1 while the budget's minimum does not count because too few attempts succeed.");
  for (const auto& [upstream, budget] : smallest) {
    withheld.Add({{"upstream", upstream}}, budget.floor_withheld ? 1 : 0);
  }
  Family waiting(sink, MetricType::Gauge, "levee_retries_waiting",
                 "Retries that wait for a success to pay for them.");
  for (const auto& [upstream, budget] : smallest) {
    waiting.Add({{"upstream", upstream}}, static_cast<double>(budget.waiting));
  }
}

void CollectGuardStates(const std::map<std::string, GuardState>& guards, FamilySink sink) {
  Family limit(sink, MetricType::Gauge, "levee_guard_limit",
               "Calls that the guard lets its service work on at a time.");
  for (const auto& [upstream, guard] : guards) {
    if (guard.limit > 0) limit.Add({{"upstream", upstream}}, guard.limit);
  }
  Family least(sink, MetricType::Gauge, "levee_guard_limit_min",
               "What the guard's adaptive limit does not go below.");
  for (const auto& [upstream, guard] : guards) {
    if (guard.least > 0) least.Add({{"upstream", upstream}}, guard.least);
  }
  Family in_flight(sink, MetricType::Gauge, "levee_guard_in_flight",
                   "Calls that have a slot of the guard.");
  for (const auto& [upstream, guard] : guards) {
    in_flight.Add({{"upstream", upstream}}, guard.in_flight);
  }
  Family streams(sink, MetricType::Gauge, "levee_guard_streams",
                 "Calls with a slot of the guard that are streams.");
  for (const auto& [upstream, guard] : guards) {
    streams.Add({{"upstream", upstream}}, guard.streams);
  }
  Family waiting(sink, MetricType::Gauge, "levee_guard_queue_length",
                 "Calls that wait for a slot of the guard.");
  for (const auto& [upstream, guard] : guards) {
    waiting.Add({{"upstream", upstream}}, guard.waiting);
  }
  Family reported(sink, MetricType::Gauge, "levee_guard_reported_retry_share",
                  "Retries as a share of all attempts that callers' sidecars made or wanted.");
  for (const auto& [upstream, guard] : guards) {
    reported.Add({{"upstream", upstream}}, guard.reported_retry_share);
  }
}

void CollectDedupeGauges(const std::map<std::string, DedupeGauges>& stores, FamilySink sink) {
  Family keys(sink, MetricType::Gauge, "levee_dedupe_keys",
              "Idempotency keys whose calls run, or whose outcomes are kept.");
  for (const auto& [upstream, store] : stores) {
    keys.Add({{"upstream", upstream}}, static_cast<double>(store.keys));
  }
  Family bytes(sink, MetricType::Gauge, "levee_dedupe_bytes",
               "Memory of idempotency keys and of the answers that are kept.");
  for (const auto& [upstream, store] : stores) {
    bytes.Add({{"upstream", upstream}}, static_cast<double>(store.bytes));
  }
  Family evicted(sink, MetricType::Counter, "levee_dedupe_evicted_total",
                 "Outcomes of idempotency keys that were forgotten before their ttl to make room.");
  for (const auto& [upstream, store] : stores) {
    evicted.Add({{"upstream", upstream}}, static_cast<double>(store.forgotten));
  }
}

void CollectSizes(int64_t replay_bytes, const MemoryGauges& memory, FamilySink sink) {
  Family(sink, MetricType::Gauge, "levee_replay_buffer_bytes", "Request bytes kept for retries.")
      .Add({}, static_cast<double>(replay_bytes));
  Family(sink, MetricType::Gauge, "levee_memory_bytes",
         "Memory of calls, connections and tables, which limits.memory bounds.")
      .Add({}, static_cast<double>(memory.held));
  Family(sink, MetricType::Gauge, "levee_memory_limit_bytes", "The bound: limits.memory.")
      .Add({}, static_cast<double>(memory.limit));
}

void CollectLeases(const std::map<std::string, LeaseState>& limits, FamilySink sink) {
  Family lease(sink, MetricType::Gauge, "levee_rate_limit_lease",
               "Who decides for a shared rate limit: 1 for the state that it is in.");
  for (const auto& [limit, now] : limits) {
    for (LeaseState state : kAllOf<LeaseState, kLeaseStates>) {
      lease.Add({{"limit", limit}, {"state", LeaseStateName(state)}}, state == now ? 1 : 0);
    }
  }
}

void CollectThrottles(const std::map<std::string, double>& probabilities, FamilySink sink) {
  Family family(sink, MetricType::Gauge, "levee_throttle_probability",
                "Probability with which the adaptive throttle rejects a call, or would reject it.");
  for (const auto& [upstream, probability] : probabilities) {
    family.Add({{"upstream", upstream}}, probability);
  }
}

}  // namespace

void Metrics::CollectConfig(FamilySink sink) const {
  const std::lock_guard lock(config_mutex_);
  Family reloads(sink, MetricType::Counter, "levee_config_reloads_total",
                 "Reloads of the configuration.");
  reloads.Add({{"result", "success"}}, config_reloaded_);
  reloads.Add({{"result", "failure"}}, config_refused_);
  Family(sink, MetricType::Gauge, "levee_config_last_reload_successful",
         "1 unless the last reload was refused; the start counts as one.")
      .Add({}, config_last_successful_ ? 1 : 0);
  Family(sink, MetricType::Gauge, "levee_config_last_reload_success_timestamp_seconds",
         "When the running configuration was loaded, in Unix time.")
      .Add({}, absl::ToDoubleSeconds(config_loaded_at_ - absl::UnixEpoch()));
  Family expiries(sink, MetricType::Gauge, "levee_tls_certificate_expiry_timestamp_seconds",
                  "When certificates that Levee shows expire, in Unix time.");
  Family begins(sink, MetricType::Gauge, "levee_tls_certificate_not_before_timestamp_seconds",
                "When certificates that Levee shows began to be valid, in Unix time.");
  for (const CertificateLife& certificate : certificates_) {
    const Labels labels{{"upstream", certificate.upstream}, {"kind", certificate.kind}};
    expiries.Add(labels, absl::ToDoubleSeconds(certificate.expires - absl::UnixEpoch()));
    begins.Add(labels, absl::ToDoubleSeconds(certificate.begins - absl::UnixEpoch()));
  }
  Family(sink, MetricType::Counter, "levee_tls_certificate_rotations_total",
         "How often certificates of Workload APIs took effect while the sidecar ran.")
      .Add({}, certificates_rotated_);
  Family(sink, MetricType::Gauge, "levee_config_info", "The running configuration.")
      .Add({{"sha256", config_sha256_}}, 1);
  Family(sink, MetricType::Gauge, "levee_build_info", "The running program.")
      .Add({{"version", version_}, {"commit", commit_}}, 1);
}

ByEnum<uint64_t, Limit, kLimits> Metrics::LimitHits() const {
  ByEnum<uint64_t, Limit, kLimits> hits{};
  for (const WorkerSeries& worker : workers_) {
    for (Limit limit : kAllOf<Limit, kLimits>) hits[limit] += worker.limit_hits[limit].Read();
  }
  // These limits are not a worker's, so no worker counts their hits.
  hits[Limit::kMethodLabels] += labels_.refused();
  hits[Limit::kMetricSeries] += cap_.hits();
  const LostLines lost = ReadLostLines();
  hits[Limit::kAccessLog] += lost.access_log;
  hits[Limit::kLog] += lost.log;
  return hits;
}

LostLines Metrics::ReadLostLines() const {
  const std::lock_guard lock(source_mutex_);
  return source_ == nullptr ? LostLines() : source_->Lost();
}

void Metrics::CollectGauges(FamilySink sink) const {
  const std::lock_guard lock(source_mutex_);
  if (source_ == nullptr) return CollectSizes(0, {}, sink);
  CollectBudgets(source_->Budgets(), sink);
  CollectGuardStates(source_->Guards(), sink);
  CollectDedupeGauges(source_->Keys(), sink);
  CollectLeases(source_->Leases(), sink);
  CollectThrottles(source_->Throttles(), sink);
  CollectSizes(source_->ReplayBytes(), source_->Memory(), sink);
}

void Metrics::CollectMethodsAndUpstreams(FamilySink sink) {
  const auto has_no_route = [](const auto& row) { return row.first == kNoUpstream; };
  const auto may_show = [this](const MethodRow& row, int number, int64_t series) {
    return cap_.Show(row.shards.data(), number, series);
  };
  auto methods = methods_.Rows();
  CollectCalls(methods, may_show, sink);
  // A call without a route has no attempts, so its series in these families would always be 0.
  std::erase_if(methods, has_no_route);
  CollectAttempts(methods, may_show, sink);
  if (otel_names_.load()) CollectOtel(methods, may_show, sink);
  auto upstreams = upstreams_.Rows();
  std::erase_if(upstreams, has_no_route);
  CollectUpstreams(upstreams, methods, sink);
}

void Metrics::CollectAll(FamilySink sink) {
  CollectMethodsAndUpstreams(sink);
  CollectRateLimits(rate_limits_.Rows(), sink);
  CollectGuards(guards_.Rows(), sink);
  CollectDedupes(dedupes_.Rows(), sink);
  CollectShadows(shadows_.Rows(), sink);
  CollectStores(stores_.Rows(), sink);
  CollectWorkers(workers_, LimitHits(), sink);
  CollectSpans(workers_, spans_, sink);
  CollectTls(upstreams_.Rows(), stores_.Rows(), workers_, sink);
  CollectGauges(sink);
  CollectConfig(sink);
}

void Metrics::Scrape(FamilySink sink) {
  {
    const std::lock_guard lock(removal_mutex_);
    RemoveQuiet();
  }
  CollectAll(sink);
}

std::vector<prometheus::MetricFamily> Metrics::Scrape() {
  std::vector<prometheus::MetricFamily> families;
  Scrape([&](prometheus::MetricFamily family) { families.push_back(std::move(family)); });
  return families;
}

}  // namespace levee
