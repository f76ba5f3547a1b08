// What a scrape shows: every family with its name, labels and meaning.
#include <algorithm>
#include <map>

#include "telemetry/exposition.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using prometheus::MetricType;

constexpr auto kCodes = kAllOf<StatusCode, kStatusCodes>;
constexpr auto kTriggers = kAllOf<RetryTrigger, kRetryTriggers>;
constexpr auto kReasons = kAllOf<RefusalReason, kRefusalReasons>;
constexpr auto kScopes = kAllOf<OverloadScope, kOverloadScopes>;
constexpr auto kStates = kAllOf<EndpointState, kEndpointStates>;

using MethodRow = SeriesTable<MethodSeries>::Row;
using UpstreamRow = SeriesTable<UpstreamSeries>::Row;

// Every pair of trigger and code would be 119 series a method, nearly all of them impossible. So
// each trigger starts with the code that it mostly comes with, and the others appear when they
// happen.
StatusCode UsualCode(RetryTrigger trigger) {
  switch (trigger) {
    case RetryTrigger::kTimeout:
      return StatusCode::kDeadlineExceeded;
    case RetryTrigger::kHedge:  // Follows no failure.
      return StatusCode::kOk;
    default:
      return StatusCode::kUnavailable;
  }
}

void CollectCalls(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family calls(sink, MetricType::Counter, "levee_calls_total",
               "Calls ended, by the status code that the caller saw.");
  for (const MethodRow& row : rows) {
    for (StatusCode code : kCodes) {
      calls.Add({{"upstream", row.first}, {"method", row.second}, {"code", StatusCodeName(code)}},
                Sum(row.shards, &MethodSeries::calls, code));
    }
  }
}

void CollectCallDurations(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family duration(sink, MetricType::Histogram, "levee_call_duration_seconds",
                  "Time from a call's arrival to its end.");
  for (const MethodRow& row : rows) {
    duration.Add({{"upstream", row.first}, {"method", row.second}},
                 SumHistogram(row.shards, &MethodSeries::call_duration, kNanosPerSecond));
  }
}

void CollectAttempts(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family attempts(sink, MetricType::Counter, "levee_attempts_total",
                  "Attempts ended, by status code.");
  for (const MethodRow& row : rows) {
    for (StatusCode code : kCodes) {
      attempts.Add(
          {{"upstream", row.first}, {"method", row.second}, {"code", StatusCodeName(code)}},
          Sum(row.shards, &MethodSeries::attempts, code));
    }
  }
}

void CollectAttemptsPerCall(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family per_call(sink, MetricType::Histogram, "levee_call_attempts",
                  "Attempts per call that was attempted, transparent retries excluded.");
  for (const MethodRow& row : rows) {
    per_call.Add({{"upstream", row.first}, {"method", row.second}, {"result", "ok"}},
                 SumHistogram(row.shards, &MethodSeries::attempts_ok, kUnits));
    per_call.Add({{"upstream", row.first}, {"method", row.second}, {"result", "error"}},
                 SumHistogram(row.shards, &MethodSeries::attempts_error, kUnits));
  }
}

void CollectRetries(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family retries(sink, MetricType::Counter, "levee_retries_total",
                 "Retries started, by what made them necessary and the code of that failure.");
  for (const MethodRow& row : rows) {
    for (RetryTrigger trigger : kTriggers) {
      for (StatusCode code : kCodes) {
        const uint64_t count = Sum(row.shards, &MethodSeries::retries, trigger, code);
        if (count == 0 && code != UsualCode(trigger)) continue;
        retries.Add({{"upstream", row.first},
                     {"method", row.second},
                     {"trigger", RetryTriggerName(trigger)},
                     {"code", StatusCodeName(code)}},
                    count);
      }
    }
  }
}

void CollectRetriesRefused(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family refused(sink, MetricType::Counter, "levee_retries_refused_total",
                 "Calls that a retry was wanted for but not made, by reason.");
  for (const MethodRow& row : rows) {
    for (RefusalReason reason : kReasons) {
      refused.Add(
          {{"upstream", row.first}, {"method", row.second}, {"reason", RefusalReasonName(reason)}},
          Sum(row.shards, &MethodSeries::retries_refused, reason));
    }
  }
}

// A family with the label `upstream` only.
template <typename Member>
void CollectByUpstream(const std::vector<UpstreamRow>& rows, Member UpstreamSeries::*member,
                       MetricType type, std::string_view name, std::string_view help,
                       FamilySink sink) {
  Family family(sink, type, name, help);
  for (const UpstreamRow& row : rows) {
    if constexpr (requires(Member cell) { cell.ReadSum(); }) {
      family.Add({{"upstream", row.first}}, SumHistogram(row.shards, member, kNanosPerSecond));
    } else {
      family.Add({{"upstream", row.first}}, Sum(row.shards, member));
    }
  }
}

void CollectUpstreamRetries(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  CollectByUpstream(rows, &UpstreamSeries::attempt_duration, MetricType::Histogram,
                    "levee_attempt_duration_seconds", "Time from an attempt's start to its end.",
                    sink);
  CollectByUpstream(rows, &UpstreamSeries::retry_delay, MetricType::Histogram,
                    "levee_call_retry_delay_seconds",
                    "Time that a retried call spent with no attempt active.", sink);
  CollectByUpstream(rows, &UpstreamSeries::retry_backoff, MetricType::Histogram,
                    "levee_retry_backoff_seconds",
                    "Delays before retries, as chosen by backoff or advice.", sink);
  CollectByUpstream(rows, &UpstreamSeries::transparent_retries, MetricType::Counter,
                    "levee_transparent_retries_total",
                    "Retries of requests that surely were not processed, also counted in "
                    "levee_retries_total.",
                    sink);
}

void CollectAppRetries(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family app(sink, MetricType::Counter, "levee_app_retries_total",
             "Calls that arrived as the application's own retries.");
  for (const UpstreamRow& row : rows) {
    app.Add({{"upstream", row.first}, {"action", "admitted"}},
            Sum(row.shards, &UpstreamSeries::app_retries_admitted));
    app.Add({{"upstream", row.first}, {"action", "refused"}},
            Sum(row.shards, &UpstreamSeries::app_retries_refused));
  }
}

void CollectMarks(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family marks(sink, MetricType::Counter, "levee_overload_marks_total",
               "Answers that said not to retry, received from upstreams and sent to callers.");
  for (const UpstreamRow& row : rows) {
    for (OverloadScope scope : kScopes) {
      const std::string_view name = OverloadScopeName(scope);
      marks.Add({{"upstream", row.first}, {"direction", "received"}, {"scope", name}},
                Sum(row.shards, &UpstreamSeries::marks_received, scope));
      marks.Add({{"upstream", row.first}, {"direction", "sent"}, {"scope", name}},
                Sum(row.shards, &UpstreamSeries::marks_sent, scope));
    }
  }
}

void CollectConnections(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  CollectByUpstream(rows, &UpstreamSeries::connections, MetricType::Gauge,
                    "levee_upstream_connections", "Open connections to endpoints.", sink);
}

void CollectEndpoints(const std::vector<UpstreamRow>& rows, FamilySink sink) {
  Family endpoints(sink, MetricType::Gauge, "levee_endpoints",
                   "Endpoints by state; each worker has its own view and counts them once.");
  for (const UpstreamRow& row : rows) {
    for (EndpointState state : kStates) {
      endpoints.Add({{"upstream", row.first}, {"state", EndpointStateName(state)}},
                    Sum(row.shards, &UpstreamSeries::endpoints, state));
    }
  }
}

void CollectRateLimits(const std::vector<SeriesTable<RateLimitSeries>::Row>& rows,
                       FamilySink sink) {
  Family decisions(sink, MetricType::Counter, "levee_rate_limit_decisions_total",
                   "What rate limits decided.");
  for (const auto& [policy, limit, shards] : rows) {
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "admitted"}},
                  Sum(shards, &RateLimitSeries::admitted));
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "delayed"}},
                  Sum(shards, &RateLimitSeries::delayed));
    decisions.Add({{"policy", policy}, {"limit", limit}, {"decision", "rejected"}},
                  Sum(shards, &RateLimitSeries::rejected));
  }
}

void CollectWorkers(std::span<const WorkerSeries> workers, uint64_t method_labels_refused,
                    FamilySink sink) {
  Family(sink, MetricType::Gauge, "levee_active_calls", "Calls in flight.")
      .Add({}, Sum(workers, &WorkerSeries::active_calls));
  Family(sink, MetricType::Gauge, "levee_downstream_connections", "Open connections of callers.")
      .Add({}, Sum(workers, &WorkerSeries::downstream_connections));
  Family hits(sink, MetricType::Counter, "levee_limit_hits_total",
              "How often a named limit was reached.");
  for (Limit limit : kAllOf<Limit, kLimits>) {
    const uint64_t elsewhere = limit == Limit::kMethodLabels ? method_labels_refused : 0;
    hits.Add({{"limit", LimitName(limit)}},
             Sum(workers, &WorkerSeries::limit_hits, limit) + elsewhere);
  }
  Family rejects(sink, MetricType::Counter, "levee_downstream_rejects_total",
                 "What was refused to callers before it got a route, by reason.");
  for (Reject reject : kAllOf<Reject, kRejects>) {
    rejects.Add({{"reason", RejectName(reject)}}, Sum(workers, &WorkerSeries::rejects, reject));
  }
}

// Of several budgets of one upstream the one with the least available.
std::map<std::string, Metrics::BudgetGauges> SmallestBudgets(
    std::vector<Metrics::BudgetGauges> budgets) {
  std::map<std::string, Metrics::BudgetGauges> smallest;
  for (Metrics::BudgetGauges& budget : budgets) {
    const auto [entry, first] = smallest.try_emplace(budget.upstream, budget);
    if (!first && budget.available < entry->second.available) entry->second = std::move(budget);
  }
  return smallest;
}

void CollectBudgets(std::vector<Metrics::BudgetGauges> budgets, FamilySink sink) {
  const auto smallest = SmallestBudgets(std::move(budgets));
  Family available(sink, MetricType::Gauge, "levee_retry_budget_available",
                   "Retries that the budget would allow now.");
  for (const auto& [upstream, budget] : smallest) {
    available.Add({{"upstream", upstream}}, budget.available);
  }
  Family limit(sink, MetricType::Gauge, "levee_retry_budget_limit",
               "Retries that the budget allows in the window.");
  for (const auto& [upstream, budget] : smallest) {
    limit.Add({{"upstream", upstream}}, budget.limit);
  }
  Family withheld(sink, MetricType::Gauge, "levee_retry_budget_floor_withheld",
                  "1 while the budget's floor does not count because too little succeeds.");
  for (const auto& [upstream, budget] : smallest) {
    withheld.Add({{"upstream", upstream}}, budget.floor_withheld ? 1 : 0);
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
  Family(sink, MetricType::Gauge, "levee_config_info", "The running configuration.")
      .Add({{"sha256", config_sha256_}}, 1);
  Family(sink, MetricType::Gauge, "levee_build_info", "The running program.")
      .Add({{"version", version_}, {"commit", commit_}}, 1);
}

void Metrics::CollectSources(FamilySink sink) const {
  const std::lock_guard lock(sources_mutex_);
  CollectBudgets(budgets_ ? budgets_() : std::vector<BudgetGauges>(), sink);
  Family(sink, MetricType::Gauge, "levee_replay_buffer_bytes", "Request bytes kept for retries.")
      .Add({}, static_cast<double>(replay_bytes_ ? replay_bytes_() : 0));
}

void Metrics::CollectInto(FamilySink sink) const {
  auto methods = methods_.Rows();
  CollectCalls(methods, sink);
  CollectCallDurations(methods, sink);
  // A call without a route has no attempts, so the rest would only ever be 0.
  std::erase_if(methods, [](const auto& row) { return row.first == kNoUpstream; });
  CollectAttempts(methods, sink);
  CollectAttemptsPerCall(methods, sink);
  CollectRetries(methods, sink);
  CollectRetriesRefused(methods, sink);

  auto upstreams = upstreams_.Rows();
  std::erase_if(upstreams, [](const auto& row) { return row.first == kNoUpstream; });
  CollectUpstreamRetries(upstreams, sink);
  CollectAppRetries(upstreams, sink);
  CollectMarks(upstreams, sink);
  CollectConnections(upstreams, sink);
  CollectEndpoints(upstreams, sink);

  CollectRateLimits(rate_limits_.Rows(), sink);
  CollectWorkers(workers_, labels_.refused(), sink);
  CollectSources(sink);
  CollectConfig(sink);
}

std::vector<prometheus::MetricFamily> Metrics::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  CollectInto([&](prometheus::MetricFamily family) { families.push_back(std::move(family)); });
  return families;
}

}  // namespace levee
