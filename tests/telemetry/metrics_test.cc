// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

Metrics::Options BuiltShop() {
  return {.workers = 2,
          .settings = {.upstreams = {"cart"}, .methods = {"shop.Cart/Add"}},
          .version = "0.1.0",
          .commit = "abc",
          .config_sha256 = "feed"};
}

CallRecord OkCall() {
  CallRecord record;
  record.code = StatusCode::kOk;
  record.attempts.push_back({.code = StatusCode::kOk});
  return record;
}

// Ends one call on `worker`.
void CallOn(Metrics& metrics, int worker, const CallRecord& record) {
  RecordCall(metrics.Method(worker, "cart", "/shop.Cart/Add"), metrics.Upstream(worker, "cart"),
             metrics.Worker(worker), record);
}

TEST(Metrics, AScrapeAddsUpTheWorkers) {
  Metrics metrics(BuiltShop());
  CallOn(metrics, 0, OkCall());
  CallOn(metrics, 1, OkCall());
  CallOn(metrics, 1, OkCall());
  EXPECT_EQ(
      Scraped(
          metrics,
          R"(levee_calls_total{upstream="cart",method="shop.Cart/Add",code="OK",kind="unary"})"),
      "3");
  EXPECT_EQ(Scraped(metrics, R"(levee_attempt_duration_seconds_count{upstream="cart"})"), "3");
}

TEST(Metrics, HistogramsAreCumulativeInSeconds) {
  Metrics metrics(BuiltShop());
  CallRecord record = OkCall();
  record.end = Instant::FromNanos(1'500'000);
  CallOn(metrics, 0, record);
  record.end = Instant::FromNanos(3'000'000'000);
  CallOn(metrics, 1, record);
  const auto scraped = [&](const std::string& suffix, const std::string& le) {
    return Scraped(metrics, "levee_call_duration_seconds" + suffix +
                                R"({upstream="cart",method="shop.Cart/Add")" + le + "}");
  };
  EXPECT_EQ(scraped("_bucket", R"(,le="0.001")"), "0");
  EXPECT_EQ(scraped("_bucket", R"(,le="0.0025")"), "1");
  EXPECT_EQ(scraped("_bucket", R"(,le="2.5")"), "1");
  EXPECT_EQ(scraped("_bucket", R"(,le="10")"), "2");
  EXPECT_EQ(scraped("_bucket", R"(,le="+Inf")"), "2");
  EXPECT_EQ(scraped("_count", ""), "2");
  EXPECT_EQ(scraped("_sum", ""), "3.0015");
}

TEST(Metrics, GaugesOfWorkersAddUp) {
  Metrics metrics(BuiltShop());
  metrics.Worker(0).active_calls.Add(2);
  metrics.Worker(1).active_calls.Add();
  metrics.Worker(1).active_calls.Sub();
  metrics.Worker(1).downstream_connections.Set(4);
  metrics.Upstream(0, "cart").connections.Add(3);
  metrics.Upstream(1, "cart").connections.Add(-1);
  EXPECT_EQ(Scraped(metrics, R"(levee_active_calls{kind="unary"})"), "2");
  EXPECT_EQ(Scraped(metrics, "levee_downstream_connections"), "4");
  EXPECT_EQ(Scraped(metrics, R"(levee_upstream_connections{upstream="cart"})"), "2");
}

TEST(Metrics, AnEndpointOfSeveralWorkersCountsOnceInTheBestOfItsStates) {
  Metrics metrics(BuiltShop());
  EndpointCensus& first = metrics.Upstream(0, "cart").endpoints;
  EndpointCensus& second = metrics.Upstream(1, "cart").endpoints;
  const auto scraped = [&](const std::string& state) {
    return Scraped(metrics, R"(levee_endpoints{upstream="cart",state=")" + state + "\"}");
  };
  for (const char* name : {"a:1", "b:1"}) {
    first.Move(name, std::nullopt, EndpointState::kIdle);
    second.Move(name, std::nullopt, EndpointState::kIdle);
  }
  EXPECT_EQ(scraped("idle"), "2");
  first.Move("a:1", EndpointState::kIdle, EndpointState::kFailing);
  EXPECT_EQ(scraped("failing"), "1");
  second.Move("a:1", EndpointState::kIdle, EndpointState::kReady);
  EXPECT_EQ(scraped("failing"), "0");
  EXPECT_EQ(scraped("ready"), "1");
  EXPECT_EQ(scraped("idle"), "1");
  second.Move("b:1", EndpointState::kIdle, std::nullopt);
  EXPECT_EQ(scraped("idle"), "1");
  first.Move("b:1", EndpointState::kIdle, std::nullopt);
  EXPECT_EQ(scraped("idle"), "0");
}

TEST(Metrics, SeriesExistAtZeroBeforeTheFirstCall) {
  Metrics metrics(BuiltShop());
  for (
      const std::string_view series :
      {R"(levee_calls_total{upstream="cart",method="other",code="UNAVAILABLE",kind="unary"})",
       R"(levee_calls_total{upstream="none",method="other",code="UNIMPLEMENTED",kind="unary"})",
       R"(levee_attempts_total{upstream="cart",method="other",code="OK"})",
       R"(levee_call_attempts_count{upstream="cart",method="other",result="ok"})",
       R"(levee_call_attempts_count{upstream="cart",method="other",result="error"})",
       R"(levee_retries_total{upstream="cart",method="other",trigger="status",code="UNAVAILABLE"})",
       R"(levee_retries_refused_total{upstream="cart",method="other",reason="budget"})",
       R"(levee_retries_refused_total{upstream="cart",method="other",reason="observe"})",
       R"(levee_call_retry_delay_seconds_count{upstream="cart"})",
       R"(levee_retry_backoff_seconds_count{upstream="cart"})",
       R"(levee_transparent_retries_total{upstream="cart"})",
       R"(levee_app_retries_total{upstream="cart",action="refused",seen_by="loop"})",
       R"(levee_overload_marks_total{upstream="cart",direction="received",scope="service"})",
       R"(levee_overload_marks_total{upstream="cart",direction="sent",scope="endpoint"})",
       R"(levee_endpoints{upstream="cart",state="ejected"})",
       R"(levee_active_calls{kind="unary"})",
       R"(levee_active_calls{kind="stream"})",
       "levee_replay_buffer_bytes",
       "levee_memory_bytes",
       "levee_memory_limit_bytes",
       R"(levee_limit_hits_total{limit="replay_bytes"})",
       R"(levee_limit_hits_total{limit="routes_cached"})",
       R"(levee_downstream_rejects_total{reason="no_route"})",
       R"(levee_config_reloads_total{result="failure"})"}) {
    EXPECT_EQ(Scraped(metrics, series), "0") << series;
  }
}

TEST(Metrics, AnUnusualFailureOfARetryAppearsWhenItHappens) {
  Metrics metrics(BuiltShop());
  constexpr std::string_view kSeries =
      R"(levee_retries_total{upstream="cart",method="shop.Cart/Add",trigger="http",code="INTERNAL"})";
  metrics.Method(0, "cart", "/shop.Cart/Add");
  EXPECT_EQ(Scraped(metrics, kSeries), "absent");
  CallRecord record = OkCall();
  record.attempts.push_back(
      {.code = StatusCode::kOk, .trigger = RetryTrigger::kHttp, .after = StatusCode::kInternal});
  CallOn(metrics, 1, record);
  EXPECT_EQ(Scraped(metrics, kSeries), "1");
}

TEST(Metrics, AnUpstreamThatAReloadBringsIsExportedToo) {
  Metrics metrics(BuiltShop());
  metrics.Upstream(1, "payment").transparent_retries.Add();
  EXPECT_EQ(Scraped(metrics, R"(levee_transparent_retries_total{upstream="payment"})"), "1");
}

TEST(Metrics, CallsWithoutARouteCountUnderNoneAndNothingElseDoes) {
  Metrics metrics(BuiltShop());
  CallRecord record;
  record.code = StatusCode::kUnimplemented;
  RecordCall(metrics.Method(0, kNoUpstream, "/a.B/C"), metrics.Upstream(0, kNoUpstream),
             metrics.Worker(0), record);
  EXPECT_EQ(
      Scraped(
          metrics,
          R"(levee_calls_total{upstream="none",method="other",code="UNIMPLEMENTED",kind="unary"})"),
      "1");
  EXPECT_EQ(
      Scraped(metrics, R"(levee_call_duration_seconds_count{upstream="none",method="other"})"),
      "1");
  EXPECT_EQ(Scraped(metrics, R"(levee_transparent_retries_total{upstream="none"})"), "absent");
  EXPECT_EQ(Scraped(metrics, R"(levee_attempts_total{upstream="none",method="other",code="OK"})"),
            "absent");
}

TEST(Metrics, MarksCountByDirectionAndScope) {
  Metrics metrics(BuiltShop());
  metrics.Upstream(0, "cart").marks_received[OverloadScope::kEndpoint].Add(2);
  metrics.Upstream(1, "cart").marks_sent[OverloadScope::kService].Add(3);
  const auto scraped = [&](const std::string& direction, const std::string& scope) {
    return Scraped(metrics, R"(levee_overload_marks_total{upstream="cart",direction=")" +
                                direction + R"(",scope=")" + scope + R"("})");
  };
  EXPECT_EQ(scraped("received", "endpoint"), "2");
  EXPECT_EQ(scraped("received", "service"), "0");
  EXPECT_EQ(scraped("sent", "endpoint"), "0");
  EXPECT_EQ(scraped("sent", "service"), "3");
}

TEST(Metrics, ApplicationRetriesCountByActionAndSign) {
  Metrics metrics(BuiltShop());
  metrics.Upstream(0, "cart").app_retries_admitted[AppRetrySign::kHeader].Add(1);
  metrics.Upstream(1, "cart").app_retries_refused[AppRetrySign::kLoop].Add(2);
  const auto scraped = [&](std::string_view labels) {
    return Scraped(metrics,
                   R"(levee_app_retries_total{upstream="cart",)" + std::string(labels) + "}");
  };
  EXPECT_EQ(scraped(R"(action="admitted",seen_by="header")"), "1");
  EXPECT_EQ(scraped(R"(action="admitted",seen_by="loop")"), "0");
  EXPECT_EQ(scraped(R"(action="refused",seen_by="header")"), "0");
  EXPECT_EQ(scraped(R"(action="refused",seen_by="loop")"), "2");
}

TEST(Metrics, LimitsAndRejectsCountByName) {
  Metrics metrics(BuiltShop());
  metrics.Worker(0).limit_hits[Limit::kPendingAttempts].Add();
  metrics.Worker(1).limit_hits[Limit::kPendingAttempts].Add(2);
  metrics.Worker(1).rejects[Reject::kLoop].Add();
  EXPECT_EQ(Scraped(metrics, R"(levee_limit_hits_total{limit="pending_attempts"})"), "3");
  EXPECT_EQ(Scraped(metrics, R"(levee_downstream_rejects_total{reason="loop"})"), "1");
}

TEST(Metrics, RateLimitsCountTheirDecisions) {
  Metrics metrics(BuiltShop());
  metrics.RateLimit(0, "patient", "per-tenant").admitted.Add(2);
  metrics.RateLimit(1, "patient", "per-tenant").rejected.Add();
  const auto scraped = [&](const std::string& decision) {
    return Scraped(metrics,
                   R"(levee_rate_limit_decisions_total{policy="patient",limit="per-tenant",)"
                   R"(decision=")" +
                       decision + R"("})");
  };
  EXPECT_EQ(scraped("admitted"), "2");
  EXPECT_EQ(scraped("delayed"), "0");
  EXPECT_EQ(scraped("rejected"), "1");
}

TEST(Metrics, OfSeveralBudgetsOfAnUpstreamTheSmallestIsShown) {
  Metrics metrics(BuiltShop());
  FakeGauges gauges;
  gauges.budgets = {{"any", 7, 8, 10, false},
                    {"any", 2.5, 6, 12, true},
                    {"any", 3, 7, 11, false},
                    {"cart", 1, 2, 4, false}};
  metrics.Show(&gauges);
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_available{upstream="any"})"), "2.5");
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_at_once{upstream="any"})"), "6");
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_limit{upstream="any"})"), "12");
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_floor_withheld{upstream="any"})"), "1");
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_available{upstream="cart"})"), "1");
  EXPECT_EQ(Scraped(metrics, R"(levee_retry_budget_floor_withheld{upstream="cart"})"), "0");
}

TEST(Metrics, ASourceThatIsTakenAwayIsNotAskedAgain) {
  Metrics metrics(BuiltShop());
  int asked = 0;
  FakeGauges gauges;
  gauges.replay_bytes = [&] { return ++asked * 100; };
  metrics.Show(&gauges);
  EXPECT_EQ(Scraped(metrics, "levee_replay_buffer_bytes"), "100");
  metrics.Show(nullptr);
  EXPECT_EQ(Scraped(metrics, "levee_replay_buffer_bytes"), "0");
  EXPECT_EQ(asked, 1);
}

TEST(Metrics, LinesThatWereLostAreAskedForAtEachScrape) {
  constexpr std::string_view kLost = R"(levee_limit_hits_total{limit="access_log"})";
  constexpr std::string_view kLogLost = R"(levee_limit_hits_total{limit="log"})";
  Metrics metrics(BuiltShop());
  EXPECT_EQ(Scraped(metrics, kLost), "0");
  uint64_t lost = 3;
  FakeGauges gauges;
  gauges.lost = [&] { return LostLines{.access_log = lost++, .log = 7}; };
  metrics.Show(&gauges);
  EXPECT_EQ(Scraped(metrics, kLost), "3");
  EXPECT_EQ(Scraped(metrics, kLost), "4");
  EXPECT_EQ(Scraped(metrics, kLogLost), "7");
}

TEST(Metrics, ReloadsAreCountedAndTheRunningConfigurationIsNamed) {
  Metrics::Options options = BuiltShop();
  options.config_loaded_at = absl::FromUnixSeconds(1000);
  Metrics metrics(options);
  constexpr std::string_view kOk = "levee_config_last_reload_successful";
  constexpr std::string_view kTime = "levee_config_last_reload_success_timestamp_seconds";
  EXPECT_EQ(Scraped(metrics, kOk), "1");
  EXPECT_EQ(Scraped(metrics, kTime), "1000");
  EXPECT_EQ(Scraped(metrics, R"(levee_config_info{sha256="feed"})"), "1");

  metrics.ConfigRefused();
  EXPECT_EQ(Scraped(metrics, kOk), "0");
  EXPECT_EQ(Scraped(metrics, kTime), "1000");
  EXPECT_EQ(Scraped(metrics, R"(levee_config_reloads_total{result="failure"})"), "1");

  metrics.ConfigReloaded("beef", absl::FromUnixSeconds(2000));
  EXPECT_EQ(Scraped(metrics, kOk), "1");
  EXPECT_EQ(Scraped(metrics, kTime), "2000");
  EXPECT_EQ(Scraped(metrics, R"(levee_config_reloads_total{result="success"})"), "1");
  EXPECT_EQ(Scraped(metrics, R"(levee_config_info{sha256="beef"})"), "1");
  EXPECT_EQ(Scraped(metrics, R"(levee_config_info{sha256="feed"})"), "absent");
}

TEST(Metrics, TheBuildIsNamed) {
  Metrics metrics(BuiltShop());
  EXPECT_EQ(Scraped(metrics, R"(levee_build_info{version="0.1.0",commit="abc"})"), "1");
}

}  // namespace
}  // namespace levee
