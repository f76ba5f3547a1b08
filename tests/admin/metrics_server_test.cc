// SPDX-License-Identifier: Apache-2.0
#include "admin/metrics_server.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "admin/http_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsServerTest : public testing::Test {
 protected:
  MetricsServerTest() : metrics_({.settings = {.upstreams = {"cart"}}, .version = "0.1.0"}) {
    auto server = Start({.host = "127.0.0.1"});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const ListenAddress& address) {
    return MetricsServer::Start(address, metrics_, [this] { return ready_.load(); });
  }
  HttpAnswer Get(std::string_view path) { return Ask(server_->port(), "GET", path); }

  Metrics metrics_;
  std::atomic<bool> ready_ = true;
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, ServesMetricsAsPrometheusReadsThem) {
  metrics_.Worker(0).active_calls.Add(3);
  const HttpAnswer answer = Get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer.headers,
              HasSubstr("Content-Length: " + std::to_string(answer.body.size()) + "\r\n"));
  EXPECT_THAT(answer.body,
              HasSubstr("# TYPE levee_active_calls gauge\nlevee_active_calls{kind=\"unary\"} 3\n"));
  EXPECT_THAT(answer.body, HasSubstr("levee_calls_total{upstream=\"cart\","));
  EXPECT_THAT(answer.body, HasSubstr("\nprocess_resident_memory_bytes "));
}

TEST_F(MetricsServerTest, IsHealthyWhileItServes) {
  const HttpAnswer answer = Get("/healthz");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok\n");
}

TEST_F(MetricsServerTest, IsReadyAsLongAsItIsTold) {
  EXPECT_EQ(Get("/readyz").status, 200);
  ready_ = false;
  const HttpAnswer answer = Get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "not ready\n");
  EXPECT_EQ(Get("/healthz").status, 200);
  ready_ = true;
  EXPECT_EQ(Get("/readyz").status, 200);
}

TEST_F(MetricsServerTest, HeadHasTheHeadersOfGetAndNoBody) {
  const HttpAnswer get = Get("/healthz");
  const HttpAnswer head = Ask(server_->port(), "HEAD", "/healthz");
  EXPECT_EQ(head.headers, get.headers);
  EXPECT_EQ(head.body, "");
  const HttpAnswer metrics = Ask(server_->port(), "HEAD", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.body, "");
}

TEST_F(MetricsServerTest, AQueryIsIgnored) { EXPECT_EQ(Get("/metrics?x=1").status, 200); }

TEST_F(MetricsServerTest, OtherPathsAreNotFound) {
  for (const char* path : {"/", "/metrics/", "/metricsx", "/index.html", "/../etc/passwd"}) {
    const HttpAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body, "not found: /metrics, /healthz, /readyz\n") << path;
  }
}

TEST_F(MetricsServerTest, OtherMethodsAreNotAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const HttpAnswer answer = Ask(server_->port(), method, "/metrics", "Content-Length: 0\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.headers, HasSubstr("Allow: GET, HEAD\r\n")) << method;
  }
}

TEST_F(MetricsServerTest, ScriptsOfOtherSitesAreNotInvited) {
  const HttpAnswer answer =
      Ask(server_->port(), "OPTIONS", "/metrics",
          "Origin: http://elsewhere\r\nAccess-Control-Request-Method: GET\r\n");
  EXPECT_EQ(answer.status, 405);
  EXPECT_THAT(answer.headers, Not(HasSubstr("Access-Control-Allow")));
}

TEST_F(MetricsServerTest, WhatIsNoHttpIsRefused) {
  HttpClient client(server_->port());
  client.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), HasSubstr(" 400 "));
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(MetricsServerTest, ARequestThatIsTooLargeIsRefused) {
  // Just above what is taken, so that all of it is read before the connection closes.
  std::string request = "GET /metrics HTTP/1.1\r\nX: ";
  request.resize(8192, 'x');
  HttpClient client(server_->port());
  client.Send(request);
  EXPECT_THAT(client.ReadAll(), HasSubstr(" 4"));
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(MetricsServerTest, AClientThatSaysNothingIsCutOff) {
  HttpClient silent(server_->port());
  silent.Send("GET /metr");
  EXPECT_THAT(silent.ReadAll(), Not(HasSubstr(" 200 ")));
}

TEST_F(MetricsServerTest, ABusyPortIsAnErrorThatNamesTheFieldToChange) {
  const auto second = Start({.host = "127.0.0.1",
                             .port = server_->port(),
                             .position = "levee.yaml:4:11: metrics.address"});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(second.status().message(),
            "levee.yaml:4:11: metrics.address: cannot listen on 127.0.0.1:" +
                std::to_string(server_->port()) +
                ": Address already in use; choose another port or free this one");
}

TEST_F(MetricsServerTest, AnAddressOfAnotherMachineIsAnError) {
  // 192.0.2.0/24 is for documentation.
  const auto server = Start({.host = "192.0.2.1", .position = "built-in default: metrics.address"});
  EXPECT_EQ(server.status().message(),
            "built-in default: metrics.address: cannot listen on 192.0.2.1:0: "
            "Cannot assign requested address");
}

TEST_F(MetricsServerTest, ListensOnEveryAddressIfAsked) {
  const auto server = Start({.host = "0.0.0.0"});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ((*server)->address().ToString(), "0.0.0.0:" + std::to_string((*server)->port()));
  EXPECT_EQ(Ask((*server)->port(), "GET", "/healthz").status, 200);
  (*server)->Stop();
}

TEST_F(MetricsServerTest, StopFreesThePort) {
  const uint16_t port = server_->port();
  EXPECT_EQ(Get("/healthz").status, 200);
  server_->Stop();
  server_->Stop();
  EXPECT_FALSE(HttpClient(port).connected());
  const auto again = Start({.host = "127.0.0.1", .port = port});
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(MetricsServerTest, StopsThoughAClientIsSilent) {
  HttpClient silent(server_->port());
  server_->Stop();
}

TEST_F(MetricsServerTest, PromtoolFindsNothingToSay) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  }
  metrics_.RateLimit(0, "default", "per-tenant");
  metrics_.LabelMethod(0, "cart", "/shop.Cart/\"Add\"\\");  // to be escaped
  FakeGauges gauges;
  gauges.budgets = {{"cart", 10, 10, false}};
  metrics_.Show(&gauges);
  const std::string file = testing::TempDir() + "levee_scrape_" + std::to_string(server_->port());
  std::ofstream(file) << Get("/metrics").body;
  EXPECT_EQ(std::system(("promtool check metrics <" + file).c_str()), 0);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace levee
