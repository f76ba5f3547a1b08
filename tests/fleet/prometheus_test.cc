// SPDX-License-Identifier: Apache-2.0
#include "fleet/prometheus.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/targets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee::fleet {
namespace {

using testing::HasSubstr;

std::string Vector(const std::string& result) {
  return absl::StrCat("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[",
                      result, "]}}");
}

TEST(PrometheusUrls, HaveAHostAPortAndAPath) {
  const auto url = ReadPrometheusUrl("http://[::1]:9090/prometheus/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 9090);
  EXPECT_EQ(url->path, "/prometheus");
  EXPECT_EQ(ReadPrometheusUrl("http://prometheus.monitoring")->port, 80);
  for (const char* wrong :
       {"", "127.0.0.1:9090", "http://", "http:///x", "http://a:b", "http://a/?x", "ftp://a:1"}) {
    EXPECT_THAT(std::string(ReadPrometheusUrl(wrong).status().message()),
                HasSubstr("is no http://"))
        << wrong;
  }
  EXPECT_THAT(std::string(ReadPrometheusUrl("https://a").status().message()),
              HasSubstr("needs TLS"));
}

TEST(PrometheusQueries, AskForTheGrowthOfAllTargets) {
  EXPECT_EQ(GrowthQuery("levee_attempts_total", absl::Minutes(5)),
            "sum without (method, code, result) (increase(levee_attempts_total[300s]))");
}

TEST(PrometheusAnswers, AreSamples) {
  const auto samples = ReadPrometheusAnswer(
      Vector("{\"metric\":{\"upstream\":\"cart\",\"pod\":\"a\\\"b\"},\"value\":[1.5,\"7.25\"]},"
             "{\"metric\":{},\"value\":[1.5,\"NaN\"]}"),
      "m");
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 1u);
  EXPECT_EQ((*samples)[0].name, "m");
  EXPECT_EQ((*samples)[0].value, 7.25);
  EXPECT_EQ(LabelOf((*samples)[0].labels, "pod"), "a\"b");
}

TEST(PrometheusAnswers, OfAnotherKindAreErrors) {
  EXPECT_THAT(std::string(ReadPrometheusAnswer("<html>", "m").status().message()),
              HasSubstr("no JSON"));
  for (const char* json : {"{}", "{\"status\":\"error\",\"data\":{\"resultType\":\"vector\"}}",
                           "{\"status\":\"error\",\"error\":\"x\"}",
                           "{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\"}}"}) {
    EXPECT_THAT(std::string(ReadPrometheusAnswer(json, "m").status().message()),
                HasSubstr("not that of Prometheus"));
  }
}

TEST(Targets, AreNamedByTheFirstLabelThatNamesAnApplication) {
  const MetricLabels labels = {{"instance", "10.0.0.1:9461"}, {"job", "levee"}};
  EXPECT_EQ(ApplicationOfTarget(labels, ""), "levee");
  EXPECT_EQ(ApplicationOfTarget(labels, "instance"), "10.0.0.1:9461");
  EXPECT_EQ(ApplicationOfTarget({{"service", "cart"}, {"pod", "x-0"}}, ""), "cart");
}

TEST(Targets, APodIsNamedByWhatMadeIt) {
  for (const auto& [pod, owner] : std::vector<std::pair<std::string, std::string>>{
           {"orders-7c9d8f6b5-x2x4z", "orders"},
           {"order-cache-5b8d4f9c7d-zzqkp", "order-cache"},
           {"agent-x2x4z", "agent"},
           {"db-0", "db"},
           {"orders", "orders"},
           {"order-cache", "order-cache"}}) {
    EXPECT_EQ(ApplicationOfTarget({{"pod", pod}}, ""), owner);
  }
}

MetricSample Attempts(const std::string& pod, const std::string& space, double value) {
  return {
      "levee_attempts_total", {{"pod", pod}, {"namespace", space}, {"upstream", "cart"}}, value};
}

TEST(Targets, EachIsASidecar) {
  const auto sidecars =
      SidecarsOf({Attempts("web-0", "shop", 1), Attempts("web-1", "shop", 2)}, "");
  ASSERT_EQ(sidecars.size(), 2u);
  EXPECT_EQ(sidecars[0].application, "web");
  EXPECT_EQ(sidecars[1].application, "web");
  EXPECT_EQ(sidecars[1].figures.upstreams.at("cart").attempts, 2);
}

TEST(Targets, OfSeveralNamespacesHaveTheirsInTheirNames) {
  const auto sidecars =
      SidecarsOf({Attempts("web-0", "shop", 1), Attempts("web-0", "test", 2)}, "");
  ASSERT_EQ(sidecars.size(), 2u);
  EXPECT_EQ(sidecars[0].application, "web.shop");
  EXPECT_EQ(sidecars[1].application, "web.test");
}

TEST(Targets, CountAsReachedUnlessPrometheusSaysOtherwise) {
  const MetricSample up = {"up", {{"__name__", "up"}, {"pod", "web-1"}, {"namespace", "shop"}}, 0};
  EXPECT_EQ(CountReached({Attempts("web-0", "shop", 1), Attempts("web-1", "shop", 2),
                          Attempts("web-1", "shop", 3)},
                         {up}),
            1);
}

TEST(Targets, ThatPrometheusDoesNotReachAreUnread) {
  const auto unread =
      UnreadTargets({{"up", {{"pod", "cart-0"}, {"instance", "10.0.0.1:9461"}}, 0}}, "");
  ASSERT_EQ(unread.size(), 1u);
  EXPECT_EQ(unread[0].application, "cart");
  EXPECT_EQ(unread[0].address, "10.0.0.1:9461");
}

}  // namespace
}  // namespace levee::fleet
