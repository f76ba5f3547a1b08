// SPDX-License-Identifier: Apache-2.0
// Reloads that rename upstreams leave no series behind.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "telemetry/metrics.h"
#include "telemetry/record_call.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

constexpr int kEnough = Metrics::kQuietChecks + 1;

Metrics::Settings Naming(std::vector<std::string> upstreams) {
  return {.upstreams = std::move(upstreams), .method_labels = 1000, .metric_series = 2000};
}

class RemoveQuiet : public testing::Test {
 protected:
  void Scrapes(int count) {
    for (int i = 0; i < count; ++i) ScrapeText(metrics_);
  }

  bool Exported(const std::string& upstream) {
    return ScrapeText(metrics_).find("\"" + upstream + "\"") != std::string::npos;
  }

  // A call with a retry, of every kind.
  void Record(int worker, const std::string& upstream, const std::string& path = "/a.A/A") {
    CallRecord record;
    record.end = Instant::FromNanos(3'000'000);
    record.code = StatusCode::kUnavailable;
    record.refused = RefusalReason::kBudget;
    record.mark_sent = OverloadScope::kService;
    for (int trigger = 0; trigger < kRetryTriggers; ++trigger) {
      record.attempts.push_back({.end = record.end,
                                 .code = StatusCode::kInternal,
                                 .transparent = trigger == 0,
                                 .backed_off = true,
                                 .trigger = static_cast<RetryTrigger>(trigger),
                                 .after = StatusCode::kInternal,
                                 .mark_received = OverloadScope::kService});
    }
    for (int i = 0; i < 3; ++i) {
      record.code = i == 0 ? StatusCode::kOk : StatusCode::kUnavailable;
      if (i > 0) record.app_retry = AppRetrySign::kHeader;
      record.app_retry_refused = i == 2;
      record.rate_limit.refused_by = i - 1;
      for (MethodSeries* const method : {&metrics_.LabelMethod(worker, upstream, path),
                                         &metrics_.Method(worker, upstream, "/unknown/Method")}) {
        RecordCall(*method, metrics_.Upstream(worker, upstream), metrics_.Worker(worker), record);
      }
    }
  }

  Metrics metrics_{{.workers = 2, .settings = Naming({"cart"})}};
};

TEST_F(RemoveQuiet, AnUpstreamThatIsConfiguredNoMoreGoesOnceItIsQuiet) {
  Record(0, "cart");
  metrics_.Configure(Naming({"stock"}));
  Scrapes(5);
  EXPECT_TRUE(Exported("cart"));
  Scrapes(kEnough);
  EXPECT_FALSE(Exported("cart"));
  EXPECT_TRUE(Exported("stock"));
  EXPECT_TRUE(Exported("none"));
  EXPECT_EQ(metrics_.Totals().size(), 2u);  // none and stock
}

TEST_F(RemoveQuiet, AnUpstreamThatIsConfiguredStays) {
  Scrapes(3 * kEnough);
  EXPECT_TRUE(Exported("cart"));
}

TEST_F(RemoveQuiet, AnUpstreamWithConnectionsOrEndpointsStays) {
  metrics_.Configure(Naming({"stock"}));
  UpstreamSeries& series = metrics_.Upstream(1, "cart");
  series.connections.Add();
  Scrapes(3 * kEnough);
  EXPECT_TRUE(Exported("cart"));
  series.endpoints.Move("a:1", std::nullopt, EndpointState::kIdle);
  series.connections.Sub();
  Scrapes(3 * kEnough);
  EXPECT_TRUE(Exported("cart"));
  series.endpoints.Move("a:1", EndpointState::kIdle, std::nullopt);
  Scrapes(kEnough);
  EXPECT_FALSE(Exported("cart"));
}

TEST_F(RemoveQuiet, WhoeverAsksForTheSeriesOrEndsACallKeepsThem) {
  metrics_.Configure(Naming({"stock"}));
  MethodSeries& method = metrics_.Method(0, "cart", "/a.A/A");
  for (int i = 0; i < 10; ++i) {
    Scrapes(Metrics::kQuietChecks - 1);
    EXPECT_TRUE(Exported("cart"));
    switch (i % 3) {
      case 0:
        metrics_.Upstream(1, "cart");
        break;
      case 1:
        metrics_.Method(1, "cart", "/b.B/B");
        break;
      case 2:
        method.calls[CallKind::kUnary][StatusCode::kOk].Observe(1);
        break;
    }
  }
}

TEST_F(RemoveQuiet, ReloadsThatRenameUpstreamsLeaveRoomForMethods) {
  // More than there is room for at once.
  for (int reload = 0; reload < 120; ++reload) {
    const std::string name = "cart" + std::to_string(reload);
    metrics_.Configure(Naming({name}));
    Record(0, name);
    Scrapes(kEnough);
  }
  metrics_.Configure(Naming({"cart"}));
  Scrapes(kEnough);
  EXPECT_NE(&metrics_.LabelMethod(0, "cart", "/a.A/A"),
            &metrics_.Method(0, "cart", "/unknown/Method"));
  EXPECT_EQ(metrics_.Totals().size(), 2u);
}

TEST_F(RemoveQuiet, ReloadsAloneAreLooksToo) {
  for (int reload = 0; reload < 300; ++reload) {
    metrics_.Configure(Naming({"cart" + std::to_string(reload)}));
  }
  EXPECT_LE(metrics_.Totals().size(), 1u + kEnough + 1);
}

TEST_F(RemoveQuiet, WhatIsGoneGivesBackAllItsRoom) {
  metrics_.Configure(Naming({"stock"}));
  Scrapes(kEnough);
  const std::string before = ScrapeText(metrics_);
  // How many methods fit says how much room there is.
  const auto room = [&] {
    for (int i = 0;; ++i) {
      const std::string path = "/m.M/" + std::to_string(i);
      MethodSeries& method = metrics_.LabelMethod(0, "tried", path);
      if (&method == &metrics_.Method(0, "tried", "/unknown/Method")) return i;
      Record(0, "tried", path);
      ScrapeText(metrics_);
    }
  };
  const int first = room();
  EXPECT_GT(first, 5);
  Scrapes(kEnough);
  EXPECT_FALSE(Exported("tried"));
  EXPECT_EQ(room(), first);
}

TEST_F(RemoveQuiet, ANameThatComesBackStartsAtZero) {
  const std::string before = ScrapeText(metrics_);
  Record(0, "cart");
  Record(1, "cart");
  metrics_.Configure(Naming({}));
  Scrapes(kEnough);
  metrics_.Configure(Naming({"cart"}));
  metrics_.Worker(0).limit_hits.Reset();
  EXPECT_EQ(ScrapeText(metrics_), before);
}

}  // namespace
}  // namespace levee
