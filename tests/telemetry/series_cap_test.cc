// SPDX-License-Identifier: Apache-2.0
// However many methods callers make up and codes servers answer with, /metrics stays bounded.
#include "telemetry/series_cap.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

constexpr std::string_view kHits = R"(levee_limit_hits_total{limit="metric_series"})";

// The other families that the server prints: the process's own.
constexpr int64_t kProcess = 6;

Metrics::Options CappedShop(int metric_series, bool otel_names = false) {
  return {.workers = 2,
          .settings = {.upstreams = {"cart", "stock"},
                       .method_labels = 1000,
                       .metric_series = metric_series,
                       .otel_names = otel_names}};
}

int64_t SeriesPrinted(Metrics& metrics) {
  const std::string text = ScrapeText(metrics);
  int64_t lines = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text[at] != '#') ++lines;
  }
  return lines + kProcess;
}

// Labels `count` methods of their own with every upstream.
void MakeUpMethods(Metrics& metrics, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string path = "/made.Up/Method" + std::to_string(i);
    metrics.LabelMethod(i % 2, "cart", path);
    metrics.LabelMethod(i % 2, "stock", path);
  }
}

TEST(SeriesCap, TakesUpToTheLimitLessWhatIsSpare) {
  SeriesCap cap;
  cap.SetLimit(100);
  cap.Reserve(50);
  EXPECT_TRUE(cap.Take(45));
  EXPECT_EQ(cap.hits(), 0u);
  EXPECT_FALSE(cap.Take(1));
  EXPECT_EQ(cap.hits(), 1u);
  EXPECT_EQ(cap.taken(), 95);
}

TEST(SeriesCap, ShowsForGoodWhatFitsIntoTheSpareRoom) {
  SeriesCap cap;
  const int row = 0, other = 0;
  cap.SetLimit(100);
  cap.Reserve(90);
  EXPECT_TRUE(cap.Show(&row, 1, 10));
  EXPECT_TRUE(cap.Show(&row, 1, 10));
  EXPECT_FALSE(cap.Show(&row, 2, 1));
  EXPECT_FALSE(cap.Show(&other, 1, 1));
  EXPECT_EQ(cap.hits(), 2u);
  EXPECT_EQ(cap.taken(), 100);
}

TEST(SeriesCap, WhatWasShownOfARowThatIsGoneGivesItsRoomBack) {
  SeriesCap cap;
  const int rows[3] = {};
  cap.SetLimit(100);
  for (const int& row : rows) {
    EXPECT_TRUE(cap.Show(&row, 1, 10));
    EXPECT_TRUE(cap.Show(&row, 2, 5));
  }
  cap.Forget(&rows[1]);
  EXPECT_EQ(cap.taken(), 30);
  EXPECT_TRUE(cap.Show(&rows[0], 2, 5));
  EXPECT_EQ(cap.taken(), 30);
}

TEST(SeriesCap, WhatIsReservedMayExceedTheLimit) {
  SeriesCap cap;
  cap.SetLimit(100);
  cap.Reserve(200);
  EXPECT_EQ(cap.taken(), 200);
  EXPECT_FALSE(cap.Take(1));
  cap.Reserve(-150);
  EXPECT_TRUE(cap.Take(1));
}

class MetricSeriesTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WithoutAndWithOtelNames, MetricSeriesTest, testing::Bool());

TEST_P(MetricSeriesTest, MadeUpMethodsStayUnderTheLimit) {
  Metrics metrics(CappedShop(5000, GetParam()));
  FakeGauges gauges;
  gauges.budgets = {{.upstream = "cart"}, {.upstream = "stock"}};
  gauges.throttles = {{"cart", 0.0}, {"stock", 0.0}};
  metrics.Show(&gauges);
  metrics.RateLimit(1, "default", "per-tenant");
  EXPECT_EQ(Scraped(metrics, kHits), "0");
  MakeUpMethods(metrics, 1000);
  EXPECT_LE(SeriesPrinted(metrics), 5000);
  EXPECT_GE(SeriesPrinted(metrics), 4500);  // It is used.
  EXPECT_NE(Scraped(metrics, kHits), "0");
}

TEST_P(MetricSeriesTest, MadeUpCodesStayUnderTheLimit) {
  Metrics metrics(CappedShop(3000, GetParam()));
  MakeUpMethods(metrics, 1000);
  for (int i = 0; i < 1000; ++i) {
    CallRecord record;
    record.code = static_cast<StatusCode>(i % kStatusCodes);
    for (int trigger = 0; trigger < kRetryTriggers; ++trigger) {
      record.attempts.push_back({.code = record.code,
                                 .trigger = static_cast<RetryTrigger>(trigger),
                                 .after = record.code});
    }
    const std::string path = "/made.Up/Method" + std::to_string(i / kStatusCodes);
    RecordCall(metrics.Method(0, "cart", path), metrics.Upstream(0, "cart"), metrics.Worker(0),
               record);
  }
  EXPECT_LE(SeriesPrinted(metrics), 3000);
  EXPECT_GE(SeriesPrinted(metrics), 2800);
  EXPECT_EQ(SeriesPrinted(metrics), SeriesPrinted(metrics));
}

TEST(MetricSeries, StatusesOfAttemptsAndOfCallsAreCountedEach) {
  Metrics metrics(CappedShop(1038, /*otel_names=*/true));
  for (const std::string_view upstream : {"cart", "stock"}) {
    MethodSeries& method = metrics.Method(0, upstream, "/unknown/Method");
    for (int code = 0; code < kStatusCodes; ++code) {
      method.calls[CallKind::kUnary][static_cast<StatusCode>(code)].Observe(1);
      method.attempts[CallKind::kUnary][static_cast<StatusCode>(code)].Observe(1);
    }
  }
  EXPECT_LE(SeriesPrinted(metrics), 1038);
  EXPECT_GE(SeriesPrinted(metrics), 1014);
}

TEST_P(MetricSeriesTest, WhatIsRefusedIsCountedAsOther) {
  Metrics metrics(CappedShop(1000, GetParam()));
  MakeUpMethods(metrics, 1000);
  MethodSeries& refused = metrics.LabelMethod(0, "stock", "/made.Up/Method999");
  EXPECT_EQ(&refused, &metrics.Method(0, "stock", "/unknown/Method"));
  // The method that came first keeps its own label.
  EXPECT_NE(&metrics.Method(0, "cart", "/made.Up/Method0"),
            &metrics.Method(0, "cart", "/unknown/Method"));
}

TEST_P(MetricSeriesTest, WhatTheConfigurationNamesIsNeverDropped) {
  Metrics::Options options = CappedShop(1000, GetParam());
  options.settings.upstreams.clear();
  for (int i = 0; i < 100; ++i) {
    options.settings.upstreams.push_back("upstream" + std::to_string(i));
  }
  Metrics metrics(options);
  EXPECT_GT(SeriesPrinted(metrics), 1000);
  EXPECT_EQ(
      Scraped(metrics,
              R"(levee_calls_total{upstream="upstream99",method="other",code="OK",kind="unary"})"),
      "0");
  EXPECT_EQ(&metrics.LabelMethod(0, "upstream0", "/a.A/A"),
            &metrics.Method(0, "upstream0", "/unknown/Method"));
  EXPECT_EQ(Scraped(metrics, kHits), "1");
}

TEST_P(MetricSeriesTest, AReloadMayRaiseTheLimit) {
  Metrics metrics(CappedShop(1000, GetParam()));
  MakeUpMethods(metrics, 100);
  metrics.Configure(CappedShop(20'000, GetParam()).settings);
  EXPECT_NE(&metrics.LabelMethod(0, "cart", "/made.Up/Method99"),
            &metrics.Method(0, "cart", "/unknown/Method"));
}

TEST(MetricSeries, AReloadThatBringsTheOtelNamesCountsTheirSeries) {
  Metrics metrics(CappedShop(8000));
  MakeUpMethods(metrics, 20);
  metrics.Configure(CappedShop(8000, true).settings);
  MakeUpMethods(metrics, 1000);
  EXPECT_LE(SeriesPrinted(metrics), 8000);
  EXPECT_GE(SeriesPrinted(metrics), 7300);
  // And counts them no more when they go again.
  metrics.Configure(CappedShop(8000).settings);
  MakeUpMethods(metrics, 1000);
  EXPECT_LE(SeriesPrinted(metrics), 8000);
  EXPECT_GE(SeriesPrinted(metrics), 7300);
}

TEST(MetricSeries, AReloadThatExceedsTheLimitDropsNothing) {
  Metrics metrics(CappedShop(8000));
  MakeUpMethods(metrics, 1000);
  metrics.Configure(CappedShop(8000, true).settings);
  const int64_t printed = SeriesPrinted(metrics);
  EXPECT_GT(printed, 8000);
  MakeUpMethods(metrics, 1000);
  EXPECT_EQ(SeriesPrinted(metrics), printed);
}

}  // namespace
}  // namespace levee
