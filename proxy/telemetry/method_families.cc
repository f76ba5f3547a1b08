// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "telemetry/families.h"

namespace levee {
namespace {

using prometheus::MetricType;

// The number for MayShow, below those of levee_retries_total.
constexpr int kStreamCalls = -1;

// All pairs of trigger and code would be 119 series for each method, and nearly all of these pairs
// never happen. So each trigger starts with the code that it mostly follows, and the series of the
// other codes appear when such a retry happens.
StatusCode UsualCode(RetryTrigger trigger) {
  switch (trigger) {
    case RetryTrigger::kTimeout:
      return StatusCode::kDeadlineExceeded;
    case RetryTrigger::kHedge:  // A hedge follows no failure.
      return StatusCode::kOk;
    default:
      return StatusCode::kUnavailable;
  }
}

// Most methods are unary, so the series of streams appear with the first stream that has ended.
void CollectCallCodes(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink) {
  Family calls(sink, MetricType::Counter, "levee_calls_total",
               "Calls ended, by the status code that the caller saw.");
  for (const MethodRow& row : rows) {
    for (const CallKind kind : kAllOf<CallKind, kCallKinds>) {
      std::array<uint64_t, kStatusCodes> counts;
      for (StatusCode code : kCodes) {
        counts[static_cast<size_t>(code)] =
            AddUp(row.shards, &MethodSeries::calls, kind, code).count();
      }
      const bool none =
          std::all_of(counts.begin(), counts.end(), [](uint64_t n) { return n == 0; });
      const bool optional = kind == CallKind::kStream;
      if (optional && (none || !may_show(row, kStreamCalls, kStatusCodes))) continue;
      for (StatusCode code : kCodes) {
        calls.Add({{"upstream", row.first},
                   {"method", row.second},
                   {"code", StatusCodeName(code)},
                   {"kind", CallKindName(kind)}},
                  counts[static_cast<size_t>(code)]);
      }
    }
  }
}

void CollectCallDurations(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family duration(sink, MetricType::Histogram, "levee_call_duration_seconds",
                  "Time from a unary call's arrival to its end.");
  for (const MethodRow& row : rows) {
    HistogramSum<MethodSeries::Durations> sum;
    for (StatusCode code : kCodes) {
      sum.Add(AddUp(row.shards, &MethodSeries::calls, CallKind::kUnary, code));
    }
    duration.Add({{"upstream", row.first}, {"method", row.second}}, sum.Exposed(kNanosPerSecond));
  }
}

void CollectAttemptCodes(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family attempts(sink, MetricType::Counter, "levee_attempts_total",
                  "Attempts ended, by status code.");
  for (const MethodRow& row : rows) {
    for (StatusCode code : kCodes) {
      attempts.Add(
          {{"upstream", row.first}, {"method", row.second}, {"code", StatusCodeName(code)}},
          CountOf(row, &MethodSeries::attempts, code));
    }
  }
}

void CollectAttemptsPerCall(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family per_call(sink, MetricType::Histogram, "levee_call_attempts",
                  "Attempts per call that was attempted, transparent retries excluded.");
  for (const MethodRow& row : rows) {
    per_call.Add({{"upstream", row.first}, {"method", row.second}, {"result", "ok"}},
                 AddUp(row.shards, &MethodSeries::attempts_ok).Exposed(kUnits));
    per_call.Add({{"upstream", row.first}, {"method", row.second}, {"result", "error"}},
                 AddUp(row.shards, &MethodSeries::attempts_error).Exposed(kUnits));
  }
}

void CollectRetries(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink) {
  Family retries(sink, MetricType::Counter, "levee_retries_total",
                 "Retries started, by what made them necessary and the code of that failure.");
  for (const MethodRow& row : rows) {
    for (RetryTrigger trigger : kAllOf<RetryTrigger, kRetryTriggers>) {
      for (StatusCode code : kCodes) {
        const uint64_t count = Sum(row.shards, &MethodSeries::retries, trigger, code);
        const int number = static_cast<int>(trigger) * kStatusCodes + static_cast<int>(code);
        const bool usual = code == UsualCode(trigger);
        if (!usual && (count == 0 || !may_show(row, number, 1))) continue;
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
    for (RefusalReason reason : kAllOf<RefusalReason, kRefusalReasons>) {
      refused.Add(
          {{"upstream", row.first}, {"method", row.second}, {"reason", RefusalReasonName(reason)}},
          Sum(row.shards, &MethodSeries::retries_refused, reason));
    }
  }
}

}  // namespace

uint64_t CountOf(const MethodRow& row, MethodSeries::ByKindAndCode MethodSeries::*member,
                 StatusCode code) {
  uint64_t count = 0;
  for (const CallKind kind : kAllOf<CallKind, kCallKinds>) {
    count += AddUp(row.shards, member, kind, code).count();
  }
  return count;
}

void CollectCalls(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink) {
  CollectCallCodes(rows, may_show, sink);
  CollectCallDurations(rows, sink);
}

void CollectAttempts(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink) {
  CollectAttemptCodes(rows, sink);
  CollectAttemptsPerCall(rows, sink);
  CollectRetries(rows, may_show, sink);
  CollectRetriesRefused(rows, sink);
}

}  // namespace levee
