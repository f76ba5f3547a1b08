// SPDX-License-Identifier: Apache-2.0
#include "demo/metrics_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace levee::demo {
namespace {

constexpr char kText[] =
    "# HELP levee_retries_refused_total Wanted but not made.\n"
    "# TYPE levee_retries_refused_total counter\n"
    "levee_retries_refused_total{upstream=\"shop\",method=\"a/B\",reason=\"budget\"} 313\n"
    "levee_retries_refused_total{upstream=\"shop\",method=\"other\",reason=\"budget\"} 2\n"
    "levee_retries_refused_total{upstream=\"shop\",method=\"a/B\",reason=\"max_attempts\"} 9\n"
    "levee_retry_budget_available{upstream=\"shop\"} 94\n"
    "levee_retry_budget_at_once{upstream=\"shop\"} 198\n"
    "levee_active_calls 7\n"
    "levee_active_calls_total 1\n"
    "levee_guard_arrivals_total{upstream=\"shop\",attempt=\"0\"} 100\n"
    "levee_guard_arrivals_total{upstream=\"shop\",attempt=\"1\"} 20\n"
    "levee_guard_calls_total{upstream=\"shop\",decision=\"admitted\",reason=\"none\"} 50\n"
    "levee_guard_calls_total{upstream=\"shop\",decision=\"refused\",reason=\"queue\"} 70\n"
    "levee_guard_limit{upstream=\"shop\"} 9\n"
    "levee_guard_limit_min{upstream=\"shop\"} 1\n"
    "levee_guard_in_flight{upstream=\"shop\"} 8\n"
    "levee_guard_queue_length{upstream=\"shop\"} 4\n";

TEST(MetricsText, SumsTheSeriesWithTheLabels) {
  const std::vector<MetricSample> samples = ReadExposition(kText);
  EXPECT_EQ(SumOf(samples, "levee_active_calls"), 7);
  EXPECT_EQ(SumOf(samples, "levee_retries_refused_total", {{"reason", "budget"}}), 315);
  EXPECT_EQ(SumOf(samples, "levee_retries_refused_total"), 324);
}

TEST(MetricsText, WhatIsNotThereIsZero) {
  const std::vector<MetricSample> samples = ReadExposition(kText);
  EXPECT_EQ(SumOf(samples, "levee_retries"), 0);
  EXPECT_EQ(SumOf(samples, "levee_retries_refused_total", {{"reason", "deadline"}}), 0);
  EXPECT_EQ(SumOf({}, "levee_active_calls"), 0);
}

TEST(MetricsText, KnowsTheBudget) {
  const BudgetState budget = ReadBudget(kText);
  EXPECT_EQ(budget.available, 94);
  EXPECT_EQ(budget.at_once, 198);
  EXPECT_EQ(budget.refused, 315);
}

TEST(MetricsText, KnowsTheGuard) {
  const GuardState guard = ReadGuard(kText);
  EXPECT_EQ(guard.attempts, 120);
  EXPECT_EQ(guard.refused, 70);
  EXPECT_EQ(guard.limit, 9);
  EXPECT_EQ(guard.in_flight, 8);
  EXPECT_EQ(guard.waiting, 4);
}

}  // namespace
}  // namespace levee::demo
