// SPDX-License-Identifier: Apache-2.0
// The names that gRPC's own clients have in Prometheus (gRFC A66 and A96).
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"
#include "telemetry/times.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

class OtelFamiliesTest : public testing::Test {
 protected:
  // A call whose first attempt failed after 4 ms and whose second one began 20 ms later.
  void RecordRetriedCall(RetryTrigger trigger, bool transparent = false) {
    CallRecord record;
    record.end = At(30);
    record.code = StatusCode::kOk;
    record.attempts.push_back({.start = At(0), .end = At(4), .code = StatusCode::kUnavailable});
    record.attempts.push_back({.start = At(24),
                               .end = At(30),
                               .code = StatusCode::kOk,
                               .transparent = transparent,
                               .trigger = trigger,
                               .after = StatusCode::kUnavailable});
    RecordCall(metrics_.LabelMethod(1, "cart", "/shop.Cart/Add"), metrics_.Upstream(1, "cart"),
               metrics_.Worker(1), record);
  }

  std::string Of(std::string_view name, std::string_view more = "") {
    return Scraped(metrics_, std::string(name) +
                                 R"({grpc_method="shop.Cart/Add",grpc_target="cart")" +
                                 std::string(more) + "}");
  }

  Metrics metrics_{{.workers = 2, .settings = {.upstreams = {"cart"}, .otel_names = true}}};
};

TEST(OtelFamilies, AreThereOnlyWhenAskedFor) {
  Metrics metrics({.settings = {.upstreams = {"cart"}}});
  EXPECT_THAT(ScrapeText(metrics), Not(HasSubstr("grpc_")));
}

TEST(OtelFamilies, MayComeWithAReload) {
  Metrics metrics({.settings = {.upstreams = {"cart"}}});
  metrics.Configure({.upstreams = {"cart"}, .otel_names = true});
  EXPECT_THAT(ScrapeText(metrics), HasSubstr("grpc_client_attempt_started_total{"));
}

TEST_F(OtelFamiliesTest, A66_AttemptsAndCallsHaveDurationsByStatus) {
  RecordRetriedCall(RetryTrigger::kStatus);
  EXPECT_EQ(Of("grpc_client_attempt_started_total"), "2");
  constexpr std::string_view kFailed = R"(,grpc_status="UNAVAILABLE")";
  constexpr std::string_view kOk = R"(,grpc_status="OK")";
  EXPECT_EQ(Of("grpc_client_attempt_duration_seconds_count", kFailed), "1");
  EXPECT_EQ(Of("grpc_client_attempt_duration_seconds_sum", kFailed), "0.004");
  EXPECT_EQ(Of("grpc_client_attempt_duration_seconds_sum", kOk), "0.006");
  EXPECT_EQ(
      Of("grpc_client_attempt_duration_seconds_bucket", R"(,grpc_status="UNAVAILABLE",le="0.005")"),
      "1");
  EXPECT_EQ(Of("grpc_client_call_duration_seconds_count", kOk), "1");
  EXPECT_EQ(Of("grpc_client_call_duration_seconds_sum", kOk), "0.03");
  EXPECT_EQ(Of("grpc_client_call_duration_seconds_count", kFailed), "absent");
}

TEST_F(OtelFamiliesTest, A96_RetriesAreCountedPerCallByTheirKind) {
  RecordRetriedCall(RetryTrigger::kStatus);
  RecordRetriedCall(RetryTrigger::kReset);
  RecordRetriedCall(RetryTrigger::kHedge);
  RecordRetriedCall(RetryTrigger::kRefused, /*transparent=*/true);
  EXPECT_EQ(Of("grpc_client_call_retries_count"), "2");
  EXPECT_EQ(Of("grpc_client_call_retries_sum"), "2");
  EXPECT_EQ(Of("grpc_client_call_retries_bucket", R"(,le="1")"), "2");
  EXPECT_EQ(Of("grpc_client_call_hedges_count"), "1");
  EXPECT_EQ(Of("grpc_client_call_transparent_retries_count"), "1");
  EXPECT_EQ(Of("grpc_client_call_retry_delay_seconds_count"), "4");
  EXPECT_EQ(Of("grpc_client_call_retry_delay_seconds_sum"), "0.08");
}

TEST_F(OtelFamiliesTest, WhatIsFixedExistsAtZeroFromTheStart) {
  metrics_.LabelMethod(0, "cart", "/shop.Cart/Add");
  for (const std::string_view name :
       {"grpc_client_attempt_started_total", "grpc_client_call_retries_count",
        "grpc_client_call_transparent_retries_count", "grpc_client_call_hedges_count",
        "grpc_client_call_retry_delay_seconds_count"}) {
    EXPECT_EQ(Of(name), "0") << name;
  }
  EXPECT_EQ(Of("grpc_client_call_duration_seconds_count", R"(,grpc_status="OK")"), "0");
}

TEST_F(OtelFamiliesTest, CallsWithoutARouteReachNoTarget) {
  EXPECT_THAT(ScrapeText(metrics_), Not(HasSubstr(R"(grpc_target="none")")));
}

}  // namespace
}  // namespace levee
