// SPDX-License-Identifier: Apache-2.0
#include "telemetry/upstream_totals.h"

#include <map>
#include <string>

#include "telemetry/families.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

void AddCodes(const MethodRow& row, UpstreamTotals& totals) {
  for (StatusCode code : kCodes) {
    const auto unary = AddUp(row.shards, &MethodSeries::calls, CallKind::kUnary, code);
    const uint64_t ended = CountOf(row, &MethodSeries::calls, code);
    const uint64_t attempts = CountOf(row, &MethodSeries::attempts, code);
    totals.calls += ended;
    totals.attempts += attempts;
    if (code == StatusCode::kCancelled) {
      totals.calls_cancelled += ended;
      totals.attempts_cancelled += attempts;
    } else if (!IsServerFault(code)) {
      totals.calls_ok += ended;
      totals.attempts_ok += attempts;
    }
    for (size_t bucket = 0; bucket < totals.durations.size(); ++bucket) {
      totals.durations[bucket] += unary.buckets()[bucket];
    }
    for (RetryTrigger trigger : kAllOf<RetryTrigger, kRetryTriggers>) {
      totals.retries += Sum(row.shards, &MethodSeries::retries, trigger, code);
    }
  }
}

void AddMethod(const MethodRow& row, UpstreamTotals& totals) {
  AddCodes(row, totals);
  totals.attempted += AddUp(row.shards, &MethodSeries::attempts_ok).count();
  totals.attempted += AddUp(row.shards, &MethodSeries::attempts_error).count();
  for (RefusalReason reason : kAllOf<RefusalReason, kRefusalReasons>) {
    totals.refused[static_cast<size_t>(reason)] +=
        Sum(row.shards, &MethodSeries::retries_refused, reason);
  }
}

void AddUpstream(const UpstreamRow& row, UpstreamTotals& totals) {
  for (AppRetrySign sign : kAllOf<AppRetrySign, kAppRetrySigns>) {
    totals.app_retries_admitted += Sum(row.shards, &UpstreamSeries::app_retries_admitted, sign);
    totals.app_retries_refused += Sum(row.shards, &UpstreamSeries::app_retries_refused, sign);
  }
  totals.rate_limited = Sum(row.shards, &UpstreamSeries::rate_limited);
  totals.throttle_rejected =
      Sum(row.shards, &UpstreamSeries::throttle, ThrottleDecision::kRejected);
  totals.throttle_observed =
      Sum(row.shards, &UpstreamSeries::throttle, ThrottleDecision::kObserved);
  const auto waits = [&row](WaitEnd end) { return Sum(row.shards, &UpstreamSeries::waits, end); };
  totals.waits_released = waits(WaitEnd::kReleased);
  totals.waits_expired = waits(WaitEnd::kExpired) + waits(WaitEnd::kDeadline);
  totals.waits_cancelled = waits(WaitEnd::kCancelled);
  for (OverloadScope scope : kAllOf<OverloadScope, kOverloadScopes>) {
    totals.marks_received += Sum(row.shards, &UpstreamSeries::marks_received, scope);
    totals.marks_sent += Sum(row.shards, &UpstreamSeries::marks_sent, scope);
  }
}

void AddGuard(const GuardRow& row, UpstreamTotals& totals) {
  for (PriorityBand band : kAllOf<PriorityBand, kPriorityBands>) {
    totals.guard_admitted += Sum(row.shards, &GuardSeries::admitted, band);
    totals.guard_queued += Sum(row.shards, &GuardSeries::queued, band);
    for (GuardReason reason : kAllOf<GuardReason, kGuardReasons>) {
      totals.guard_refused[static_cast<size_t>(reason)] +=
          Sum(row.shards, &GuardSeries::refused, reason, band);
    }
  }
  for (ArrivalClass arrival : kAllOf<ArrivalClass, kArrivalClasses>) {
    totals.guard_arrivals[static_cast<size_t>(arrival)] +=
        Sum(row.shards, &GuardSeries::arrivals, arrival);
  }
}

}  // namespace

std::vector<UpstreamTotals> Metrics::Totals() const {
  std::map<std::string, UpstreamTotals> by_name;
  for (const MethodRow& row : methods_.Rows()) AddMethod(row, by_name[row.first]);
  for (const UpstreamRow& row : upstreams_.Rows()) AddUpstream(row, by_name[row.first]);
  for (const GuardRow& row : guards_.Rows()) AddGuard(row, by_name[row.first]);
  std::vector<UpstreamTotals> totals;
  totals.reserve(by_name.size());
  for (auto& [name, total] : by_name) {
    total.upstream = name;
    totals.push_back(std::move(total));
  }
  return totals;
}

}  // namespace levee
