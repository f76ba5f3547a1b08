// SPDX-License-Identifier: Apache-2.0
#include "admin/state_message.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "admin/message_count.h"
#include "base/utf8.h"
#include "telemetry/series.h"
#include "wire/refusal.h"

namespace levee {
namespace {

double Share(uint64_t part, uint64_t all) {
  // Counters are read one after the other, so a part may be ahead of the whole.
  return all == 0 ? 1 : std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
}

// Smaller is better.
size_t Rank(const std::string& state) {
  static constexpr std::array<std::string_view, 5> kBestFirst = {"ready", "connecting", "ejected",
                                                                 "failing", "idle"};
  return static_cast<size_t>(
      std::distance(kBestFirst.begin(), std::find(kBestFirst.begin(), kBestFirst.end(), state)));
}

admin::v1::Attempt AttemptMessage(const AttemptRecord& attempt, Instant call_start) {
  admin::v1::Attempt message;
  message.set_start_seconds(absl::ToDoubleSeconds(attempt.start - call_start));
  message.set_duration_seconds(absl::ToDoubleSeconds(attempt.end - attempt.start));
  message.set_code(std::string(StatusCodeName(attempt.code)));
  if (attempt.trigger.has_value()) {
    message.set_trigger(std::string(RetryTriggerName(*attempt.trigger)));
    message.set_delay_seconds(absl::ToDoubleSeconds(attempt.delay));
  }
  return message;
}

// Calls `put` with each reason for which the guard refused calls, and their number.
template <typename Put>
void ForEachRefusal(const UpstreamTotals& added, Put put) {
  for (GuardReason reason : kAllOf<GuardReason, kGuardReasons>) {
    const uint64_t count = added.guard_refused[static_cast<size_t>(reason)];
    if (count > 0) put(std::string(GuardReasonName(reason)), count);
  }
}

admin::v1::GuardSample GuardSampleMessage(const UpstreamTotals& added, const GuardState& guard) {
  admin::v1::GuardSample message;
  message.set_limit(Count(int64_t{guard.limit}));
  message.set_in_flight(Count(int64_t{guard.in_flight}));
  message.set_queue_length(Count(int64_t{guard.waiting}));
  message.set_observing(guard.observes);
  message.set_scope(std::string(OverloadScopeName(guard.scope)));
  message.set_arrived_retry_share(guard.arrived_retry_share);
  message.set_reported_retry_share(guard.reported_retry_share);
  message.set_admitted(Count(added.guard_admitted));
  message.set_queued(Count(added.guard_queued));
  ForEachRefusal(added, [&message](const std::string& reason, uint64_t count) {
    (*message.mutable_refused())[reason] = Count(count);
  });
  for (ArrivalClass arrival : kAllOf<ArrivalClass, kArrivalClasses>) {
    const uint64_t count = added.guard_arrivals[static_cast<size_t>(arrival)];
    if (count == 0) continue;
    (*message.mutable_arrivals())[std::string(ArrivalClassName(arrival))] = Count(count);
  }
  return message;
}

}  // namespace

double WallSeconds(absl::Time time) {
  return time == absl::InfinitePast() ? 0 : absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

admin::v1::Sidecar SidecarMessage(const SidecarView& view) {
  const SidecarView::Facts& facts = view.facts();
  admin::v1::Sidecar message;
  message.set_version(facts.version);
  message.set_commit(facts.commit);
  message.set_phase(view.Draining() ? admin::v1::Sidecar::PHASE_DRAINING
                                    : admin::v1::Sidecar::PHASE_SERVING);
  message.set_started(WallSeconds(facts.started_at));
  message.set_workers(Count(int64_t{facts.workers}));
  int64_t calls = 0;
  int64_t connections = 0;
  for (int worker = 0; worker < facts.workers; ++worker) {
    const WorkerSeries& series = facts.metrics.Worker(worker);
    calls += series.active_calls.Read();
    connections += series.downstream_connections.Read();
  }
  for (std::string& listener : view.Listeners()) *message.add_listeners() = std::move(listener);
  for (std::string& destination : view.TlsDestinations()) {
    *message.add_tls_destinations() = std::move(destination);
  }
  message.set_active_calls(Count(calls));
  message.set_downstream_connections(Count(connections));
  for (const Metrics::ShadowTotals& totals : facts.metrics.Shadows()) {
    admin::v1::Shadow& shadow = *message.add_shadows();
    shadow.set_policy(totals.policy);
    shadow.set_shadow(totals.shadow);
    shadow.set_same(Count(totals.calls[ShadowOutcome::kSame]));
    shadow.set_more(Count(totals.calls[ShadowOutcome::kMore]));
    shadow.set_fewer(Count(totals.calls[ShadowOutcome::kFewer]));
  }
  const auto hits = facts.metrics.LimitHits();
  for (int i = 0; i < kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    if (hits[limit] == 0) continue;
    (*message.mutable_limit_hits())[std::string(LimitName(limit))] = Count(hits[limit]);
  }
  return message;
}

admin::v1::Configuration ConfigurationMessage(const ConfigStatus& status) {
  admin::v1::Configuration message;
  message.set_sha256(status.snapshot->sha256);
  message.set_loaded(WallSeconds(status.loaded));
  message.mutable_files()->Assign(status.files.begin(), status.files.end());
  message.set_reloads(Count(status.reloads));
  message.set_refused_reloads(Count(status.refused));
  message.set_last_reload_refused(!status.faults.empty());
  message.mutable_faults()->Assign(status.faults.begin(), status.faults.end());
  message.set_last_attempt(WallSeconds(status.last_attempt));
  message.mutable_warnings()->Assign(status.warnings.begin(), status.warnings.end());
  return message;
}

admin::v1::Sample SampleMessage(const HistorySample& sample) {
  const UpstreamTotals& added = sample.added;
  admin::v1::Sample message;
  message.set_number(sample.second);
  message.set_calls(Count(added.calls));
  message.set_calls_ok(Count(added.calls_ok));
  message.set_calls_cancelled(Count(added.calls_cancelled));
  message.set_attempts(Count(added.attempts));
  message.set_attempts_ok(Count(added.attempts_ok));
  message.set_attempts_cancelled(Count(added.attempts_cancelled));
  message.set_retries(Count(added.retries));
  message.set_app_retries(Count(added.app_retries_admitted + added.app_retries_refused));
  message.set_budget_available(sample.budget.available);
  message.set_budget_limit(sample.budget.limit);
  message.set_budget_at_once(sample.budget.at_once);
  message.set_budget_ratio(sample.budget.ratio);
  message.set_p99_seconds(absl::ToDoubleSeconds(Percentile(added, 0.99)));
  const auto refused = [&message](std::string_view reason, uint64_t count) {
    if (count > 0) (*message.mutable_refused())[std::string(reason)] = Count(count);
  };
  for (int i = 0; i < kRefusalReasons; ++i) {
    refused(RefusalReasonName(static_cast<RefusalReason>(i)),
            added.refused[static_cast<size_t>(i)]);
  }
  refused("rate_limit", added.rate_limited);
  refused("app_retry", added.app_retries_refused);
  if (sample.guard.has_value() && !sample.guard->observes) {
    ForEachRefusal(added, [&refused](const std::string& reason, uint64_t count) {
      refused("guard_" + reason, count);
    });
  }
  message.set_marks_received(Count(added.marks_received));
  message.set_marks_sent(Count(added.marks_sent));
  message.set_amplification(added.attempted > added.app_retries_admitted ? Amplification(added)
                                                                         : 0);
  message.set_retries_waiting(Count(sample.budget.waiting));
  message.set_waits_released(Count(added.waits_released));
  message.set_waits_expired(Count(added.waits_expired));
  message.set_waits_cancelled(Count(added.waits_cancelled));
  message.set_throttle_rejected(Count(added.throttle_rejected));
  message.set_throttle_observed(Count(added.throttle_observed));
  message.set_throttle_probability(sample.throttle_probability);
  if (sample.guard.has_value()) {
    *message.mutable_guard() = GuardSampleMessage(added, *sample.guard);
  }
  return message;
}

admin::v1::Budget BudgetMessage(const BudgetState& budget, int seconds_empty) {
  admin::v1::Budget message;
  message.set_available(budget.available);
  message.set_limit(budget.limit);
  message.set_at_once(budget.at_once);
  message.set_ratio(budget.ratio);
  message.set_floor_withheld(budget.floor_withheld);
  message.set_empty_seconds(seconds_empty);
  return message;
}

admin::v1::Rates RatesMessage(const HistorySample& sum, int seconds) {
  const UpstreamTotals& added = sum.added;
  const auto rate = [seconds](uint64_t count) { return static_cast<double>(count) / seconds; };
  admin::v1::Rates message;
  message.set_calls_per_second(rate(added.calls));
  message.set_attempts_per_second(rate(added.attempts));
  message.set_retries_per_second(rate(added.retries));
  message.set_callers_ok(Share(added.calls_ok, added.calls_judged()));
  message.set_attempts_ok(Share(added.attempts_ok, added.attempts_judged()));
  message.set_amplification(Amplification(added));
  message.set_p99_seconds(absl::ToDoubleSeconds(Percentile(added, 0.99)));
  message.set_app_retries_per_second(rate(added.app_retries_admitted + added.app_retries_refused));
  return message;
}

admin::v1::Guard GuardMessage(const UpstreamTotals& sum, const GuardState& guard, int seconds) {
  const auto rate = [seconds](uint64_t count) { return static_cast<double>(count) / seconds; };
  admin::v1::Guard message;
  message.set_limit(Count(int64_t{guard.limit}));
  message.set_limit_min(Count(int64_t{guard.least}));
  message.set_in_flight(Count(int64_t{guard.in_flight}));
  message.set_streams(Count(int64_t{guard.streams}));
  message.set_queue_length(Count(int64_t{guard.waiting}));
  message.set_queue_stands(guard.stands);
  message.set_observing(guard.observes);
  message.set_scope(std::string(OverloadScopeName(guard.scope)));
  message.set_arrived_retry_share(guard.arrived_retry_share);
  message.set_reported_retry_share(guard.reported_retry_share);
  message.set_admitted_per_second(rate(sum.guard_admitted));
  message.set_queued_per_second(rate(sum.guard_queued));
  ForEachRefusal(sum, [&](const std::string& reason, uint64_t count) {
    (*message.mutable_refused_per_second())[reason] = rate(count);
  });
  return message;
}

admin::v1::Call CallMessage(const RememberedCall& call, uint32_t number) {
  const CallRecord& record = call.record;
  admin::v1::Call message;
  message.set_number(number);
  message.set_start(WallSeconds(call.start));
  message.set_duration_seconds(absl::ToDoubleSeconds(record.end - record.start));
  message.set_listener(ShownText(call.listener));
  message.set_upstream(ShownText(call.upstream));
  message.set_authority(ShownText(call.authority));
  message.set_method(ShownText(call.method));
  message.set_kind(std::string(CallKindName(record.kind)));
  message.set_code(std::string(StatusCodeName(record.code)));
  message.set_message(ShownText(call.message));
  for (size_t i = 0; i < record.attempts.size(); ++i) {
    admin::v1::Attempt& attempt = *message.add_attempts();
    attempt = AttemptMessage(record.attempts[i], record.start);
    if (i < call.endpoints.size()) attempt.set_endpoint(ShownText(call.endpoints[i]));
  }
  if (record.refused.has_value()) {
    message.set_refused(std::string(RefusalReasonName(*record.refused)));
  }
  message.set_why(WhyOf(record));
  message.set_trace_id(ShownText(call.trace_id));
  return message;
}

admin::v1::Upstream::Severity SeverityMessage(Severity severity) {
  switch (severity) {
    case Severity::kCalm:
      return admin::v1::Upstream::SEVERITY_CALM;
    case Severity::kContained:
      return admin::v1::Upstream::SEVERITY_CONTAINED;
    case Severity::kAlarm:
      break;
  }
  return admin::v1::Upstream::SEVERITY_ALARM;
}

std::vector<admin::v1::Endpoint> EndpointMessages(const std::vector<const EndpointView*>& views) {
  std::vector<admin::v1::Endpoint> endpoints;  // in the order of their first view
  std::map<std::pair<std::string_view, std::string_view>, size_t> places;
  for (const EndpointView* view : views) {
    const auto [place, first] =
        places.try_emplace({view->authority, view->address}, endpoints.size());
    if (first) {
      endpoints.emplace_back().set_authority(ShownText(view->authority));
      endpoints.back().set_address(ShownText(view->address));
    }
    admin::v1::Endpoint& endpoint = endpoints[place->second];
    if (first || Rank(view->state) < Rank(endpoint.state())) {
      endpoint.set_state(view->state);
      endpoint.set_failure(ShownText(view->failure));
    }
    endpoint.set_active(endpoint.active() + Count(int64_t{view->active}));
    endpoint.set_latency_seconds(
        std::max(endpoint.latency_seconds(), absl::ToDoubleSeconds(view->latency)));
  }
  return endpoints;
}

admin::v1::EndpointCounts EndpointCountsMessage(const std::vector<admin::v1::Endpoint>& endpoints) {
  const auto in_state = [&endpoints](std::string_view state) {
    return static_cast<uint32_t>(
        std::count_if(endpoints.begin(), endpoints.end(),
                      [state](const auto& endpoint) { return endpoint.state() == state; }));
  };
  admin::v1::EndpointCounts counts;
  counts.set_ready(in_state("ready"));
  counts.set_connecting(in_state("connecting"));
  counts.set_ejected(in_state("ejected"));
  counts.set_failing(in_state("failing"));
  counts.set_idle(in_state("idle"));
  return counts;
}

void AddEndpoints(std::vector<admin::v1::Endpoint> endpoints, size_t most,
                  admin::v1::Upstream& upstream) {
  if (endpoints.size() > most) {
    std::stable_partition(endpoints.begin(), endpoints.end(),
                          [](const auto& endpoint) { return endpoint.state() != "ready"; });
    upstream.set_endpoints_left_out(static_cast<uint32_t>(endpoints.size() - most));
    endpoints.resize(most);
  }
  for (admin::v1::Endpoint& endpoint : endpoints) *upstream.add_endpoints() = std::move(endpoint);
}

std::string ShownText(std::string_view text) {
  std::string shown;
  for (size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    size = Utf8CharacterSize(text);
    const std::string_view character = size > 0 ? text.substr(0, size) : "\xEF\xBF\xBD";
    if (shown.size() + character.size() > kMaxTextBytes) break;
    shown += character;
    size = std::max<size_t>(size, 1);
  }
  return shown;
}

}  // namespace levee
