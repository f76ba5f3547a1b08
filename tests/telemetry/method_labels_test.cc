// SPDX-License-Identifier: Apache-2.0
#include "telemetry/method_labels.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

Metrics::Options Shop() {
  return {.workers = 2, .settings = {.upstreams = {"cart"}, .methods = {"shop.Cart/Add"}}};
}

TEST(MethodLabels, AMethodIsExportedFromTheMomentItIsAskedFor) {
  Metrics metrics(Shop());
  constexpr std::string_view kSeries =
      R"(levee_calls_total{upstream="cart",method="shop.Cart/Add",code="OK",kind="unary"})";
  EXPECT_EQ(Scraped(metrics, kSeries), "absent");
  metrics.Method(0, "cart", "/shop.Cart/Add");
  EXPECT_EQ(Scraped(metrics, kSeries), "0");
}

TEST(MethodLabels, AnUnlabelledMethodCountsAsOther) {
  Metrics metrics(Shop());
  MethodSeries& series = metrics.Method(1, "cart", "/shop.Cart/Unknown");
  EXPECT_EQ(&series, &metrics.Method(1, "cart", "/another.Service/Method"));
  series.calls[CallKind::kUnary][StatusCode::kUnimplemented].Observe(0);
  EXPECT_EQ(
      Scraped(
          metrics,
          R"(levee_calls_total{upstream="cart",method="other",code="UNIMPLEMENTED",kind="unary"})"),
      "1");
}

TEST(MethodLabels, LabellingAMethodGivesItSeriesOfItsOwnOnEveryWorker) {
  Metrics metrics(Shop());
  MethodSeries& labelled = metrics.LabelMethod(0, "cart", "/shop.Cart/Remove");
  EXPECT_NE(&labelled, &metrics.Method(0, "cart", "/unknown/Method"));
  EXPECT_EQ(&labelled, &metrics.Method(0, "cart", "/shop.Cart/Remove"));
  EXPECT_NE(&labelled, &metrics.Method(1, "cart", "/shop.Cart/Remove"));
  metrics.Method(1, "cart", "/shop.Cart/Remove")
      .calls[CallKind::kUnary][StatusCode::kOk]
      .Observe(0);
  EXPECT_EQ(
      Scraped(
          metrics,
          R"(levee_calls_total{upstream="cart",method="shop.Cart/Remove",code="OK",kind="unary"})"),
      "1");
}

TEST(MethodLabels, BeyondMethodLabelsEverythingIsOther) {
  Metrics::Options options = Shop();
  options.settings.method_labels = 2;
  Metrics metrics(options);
  constexpr std::string_view kHits = R"(levee_limit_hits_total{limit="method_labels"})";
  metrics.LabelMethod(0, "cart", "/shop.Cart/Remove");
  EXPECT_EQ(Scraped(metrics, kHits), "0");

  MethodSeries& third = metrics.LabelMethod(1, "cart", "/shop.Cart/Clear");
  EXPECT_EQ(&third, &metrics.Method(1, "cart", "/unknown/Method"));
  EXPECT_EQ(Scraped(metrics, kHits), "1");
  EXPECT_THAT(ScrapeText(metrics), Not(HasSubstr("Clear")));

  // Methods that have a label keep it, with any upstream.
  metrics.LabelMethod(0, "anywhere", "/shop.Cart/Remove")
      .calls[CallKind::kUnary][StatusCode::kOk]
      .Observe(0);
  EXPECT_EQ(
      Scraped(
          metrics,
          R"(levee_calls_total{upstream="anywhere",method="shop.Cart/Remove",code="OK",kind="unary"})"),
      "1");
  EXPECT_EQ(Scraped(metrics, kHits), "1");
}

TEST(MethodLabels, MethodsOfRoutesBeyondTheLimitAreOtherAsWell) {
  Metrics::Options options = Shop();
  options.settings.methods = {"a.A/A", "b.B/B"};
  options.settings.method_labels = 1;
  Metrics metrics(options);
  EXPECT_NE(&metrics.Method(0, "cart", "/a.A/A"), &metrics.Method(0, "cart", "/c.C/C"));
  EXPECT_EQ(&metrics.Method(0, "cart", "/b.B/B"), &metrics.Method(0, "cart", "/c.C/C"));
}

TEST(MethodLabels, AReloadBringsUpstreamsMethodsAndAnotherLimit) {
  Metrics::Options options = Shop();
  options.settings.method_labels = 1;
  Metrics metrics(options);
  constexpr std::string_view kStock =
      R"(levee_calls_total{upstream="stock",method="other",code="OK",kind="unary"})";
  EXPECT_EQ(Scraped(metrics, kStock), "absent");
  MethodSeries& add = metrics.Method(0, "cart", "/shop.Cart/Add");
  MethodSeries& other = metrics.Method(0, "cart", "/shop.Cart/Remove");

  Metrics::Settings settings = {.upstreams = {"stock"}, .methods = {"shop.Cart/Remove"}};
  settings.method_labels = 3;
  metrics.Configure(settings);
  EXPECT_EQ(Scraped(metrics, kStock), "0");
  EXPECT_EQ(&metrics.Method(0, "cart", "/shop.Cart/Add"), &add);
  EXPECT_NE(&metrics.Method(0, "cart", "/shop.Cart/Remove"), &other);
  EXPECT_NE(&metrics.LabelMethod(0, "cart", "/shop.Cart/Clear"), &other);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/shop.Cart/Merge"), &other);
}

TEST(MethodLabels, ALowerLimitKeepsOnlyFurtherLabelsOut) {
  Metrics metrics(Shop());
  MethodSeries& add = metrics.Method(0, "cart", "/shop.Cart/Add");
  metrics.Configure({.upstreams = {"cart"}, .method_labels = 1});
  EXPECT_EQ(&metrics.Method(0, "cart", "/shop.Cart/Add"), &add);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/shop.Cart/Clear"),
            &metrics.Method(0, "cart", "/unknown/Method"));
}

TEST(MethodLabels, APathThatATextFormatCannotCarryGetsNoLabel) {
  Metrics metrics(Shop());
  MethodSeries& other = metrics.Method(0, "cart", "/unknown/Method");
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/bad\xff.Service/Method"), &other);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/new\nline"), &other);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/"), &other);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", ""), &other);
  EXPECT_EQ(&metrics.LabelMethod(0, "cart", "/" + std::string(257, 'm')), &other);
  EXPECT_NE(&metrics.LabelMethod(0, "cart", "/" + std::string(256, 'm')), &other);
}

}  // namespace
}  // namespace levee
