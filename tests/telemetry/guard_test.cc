// SPDX-License-Identifier: Apache-2.0
// What the metrics count of a guard's decisions.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

// The counters that are not 0, by their family and the values of their labels but `upstream`.
std::map<std::string, double> Counted(Metrics& metrics) {
  std::map<std::string, double> counted;
  for (const prometheus::MetricFamily& family : metrics.Scrape()) {
    if (family.type != prometheus::MetricType::Counter) continue;
    if (!family.name.starts_with("levee_guard_")) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string key = family.name;
      for (const auto& label : metric.label) {
        if (label.name != "upstream") absl::StrAppend(&key, " ", label.value);
      }
      if (metric.counter.value > 0) counted[key] = metric.counter.value;
    }
  }
  return counted;
}

TEST(GuardMetrics, CountEachCallOnceByItsDecisionAndPriority) {
  Metrics metrics({.settings = {.upstreams = {"app"}}});
  GuardSeries& guard = metrics.Guard(0, "app");
  const auto waited = absl::Milliseconds(3);
  RecordGuard(guard, {});
  RecordGuard(guard, {.decision = GuardDecision::kAdmitted, .priority = 31});
  RecordGuard(guard, {.decision = GuardDecision::kQueued, .priority = 32, .waited = waited});
  RecordGuard(
      guard,
      {.decision = GuardDecision::kRefused, .reason = GuardReason::kConcurrency, .priority = 127});
  RecordGuard(guard, {.decision = GuardDecision::kRefused,
                      .reason = GuardReason::kQueue,
                      .priority = 64,
                      .waited = waited});
  const std::map<std::string, double> expected = {
      {"levee_guard_calls_total admitted none 0-31", 1},
      {"levee_guard_calls_total queued none 32-63", 1},
      {"levee_guard_calls_total refused concurrency 96-127", 1},
      {"levee_guard_calls_total refused queue 64-95", 1},
  };
  EXPECT_EQ(Counted(metrics), expected);
  uint64_t waits = 0;
  for (size_t bucket = 0; bucket < guard.waits.kBuckets; ++bucket)
    waits += guard.waits.Read(bucket);
  EXPECT_EQ(waits, 2);
}

TEST(GuardMetrics, CountEachArrivalByTheAttemptsBefore) {
  Metrics metrics({.settings = {.upstreams = {"app"}}});
  for (const int previous : {0, 1, 7, 0}) RecordArrival(metrics.Guard(0, "app"), previous);
  const std::map<std::string, double> expected = {{"levee_guard_arrivals_total 0", 2},
                                                  {"levee_guard_arrivals_total 1", 1},
                                                  {"levee_guard_arrivals_total 3+", 1}};
  EXPECT_EQ(Counted(metrics), expected);
}

TEST(GuardMetrics, AServiceWithoutALimitHasNoSeriesForIt) {
  Metrics metrics({.settings = {.upstreams = {"app"}}});
  FakeGauges gauges;
  gauges.guards = {{"app", {.in_flight = 3}}};
  metrics.Show(&gauges);
  for (const prometheus::MetricFamily& family : metrics.Scrape()) {
    if (family.name == "levee_guard_limit" || family.name == "levee_guard_limit_min") {
      EXPECT_TRUE(family.metric.empty());
    }
    if (family.name == "levee_guard_in_flight") {
      ASSERT_EQ(family.metric.size(), 1);
      EXPECT_EQ(family.metric[0].gauge.value, 3);
    }
  }
}

}  // namespace
}  // namespace levee
