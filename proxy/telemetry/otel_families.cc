// SPDX-License-Identifier: Apache-2.0
// Collects the families of gRFC A66 ("OpenTelemetry Metrics") and A96 ("OTel Metrics for Retries").
// In their names, dots become underscores, and the unit and a counter's "total" are appended, as
// OpenTelemetry's specification of its compatibility with Prometheus says.
#include "telemetry/families.h"

namespace levee {
namespace {

using prometheus::MetricType;

// Numbers for MayShow, above those of levee_retries_total.
constexpr int kAttemptDurations = kRetryTriggers * kStatusCodes;
constexpr int kCallDurations = kAttemptDurations + kStatusCodes;

constexpr int64_t kSeriesOfDurations = MethodSeries::Durations::kBuckets + 2;

void CollectStarted(const std::vector<MethodRow>& rows, FamilySink sink) {
  Family started(sink, MetricType::Counter, "grpc_client_attempt_started_total",
                 "Attempts, counted when they have ended.");
  for (const MethodRow& row : rows) {
    uint64_t attempts = 0;
    for (StatusCode code : kCodes) {
      attempts += CountOf(row, &MethodSeries::attempts, code);
    }
    started.Add({{"grpc_method", row.second}, {"grpc_target", row.first}}, attempts);
  }
}

// A method's calls end with few codes, so the series of a code appears when the code happens. Above
// 6 parameters: both histograms are collected by it, and differ in all of them.
void CollectDurations(const std::vector<MethodRow>& rows,
                      MethodSeries::ByKindAndCode MethodSeries::*durations, int first_number,
                      MayShow may_show, std::string_view name, std::string_view help,
                      FamilySink sink) {
  Family family(sink, MetricType::Histogram, name, help);
  for (const MethodRow& row : rows) {
    for (StatusCode code : kCodes) {
      HistogramSum<MethodSeries::Durations> sum;
      for (const CallKind kind : kAllOf<CallKind, kCallKinds>) {
        sum.Add(AddUp(row.shards, durations, kind, code));
      }
      const int number = first_number + static_cast<int>(code);
      const bool usual = code == StatusCode::kOk;
      if (!usual && (sum.count() == 0 || !may_show(row, number, kSeriesOfDurations))) continue;
      family.Add({{"grpc_method", row.second},
                  {"grpc_target", row.first},
                  {"grpc_status", StatusCodeName(code)}},
                 sum.Exposed(kNanosPerSecond));
    }
  }
}

template <typename Summed>
void CollectPerCall(const std::vector<MethodRow>& rows, Summed MethodSeries::*histogram,
                    double units, std::string_view name, std::string_view help, FamilySink sink) {
  Family family(sink, MetricType::Histogram, name, help);
  for (const MethodRow& row : rows) {
    family.Add({{"grpc_method", row.second}, {"grpc_target", row.first}},
               AddUp(row.shards, histogram).Exposed(units));
  }
}

}  // namespace

void CollectOtel(const std::vector<MethodRow>& rows, MayShow may_show, FamilySink sink) {
  CollectStarted(rows, sink);
  CollectDurations(rows, &MethodSeries::attempts, kAttemptDurations, may_show,
                   "grpc_client_attempt_duration_seconds",
                   "Time from an attempt's start to its end.", sink);
  CollectDurations(rows, &MethodSeries::calls, kCallDurations, may_show,
                   "grpc_client_call_duration_seconds", "Time from a call's arrival to its end.",
                   sink);
  CollectPerCall(rows, &MethodSeries::retries_per_call, kUnits, "grpc_client_call_retries",
                 "Retries of calls that had some, neither transparent ones nor hedges.", sink);
  CollectPerCall(rows, &MethodSeries::transparent_per_call, kUnits,
                 "grpc_client_call_transparent_retries",
                 "Transparent retries of calls that had some.", sink);
  CollectPerCall(rows, &MethodSeries::hedges_per_call, kUnits, "grpc_client_call_hedges",
                 "Hedges of calls that had some.", sink);
  CollectPerCall(rows, &MethodSeries::retry_delay, kNanosPerSecond,
                 "grpc_client_call_retry_delay_seconds",
                 "Time that a retried call spent with no attempt active.", sink);
}

}  // namespace levee
