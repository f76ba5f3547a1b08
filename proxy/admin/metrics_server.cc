// SPDX-License-Identifier: Apache-2.0
#include "admin/metrics_server.h"

#include <sstream>
#include <utility>
#include <vector>

#include "prometheus/text_serializer.h"

namespace levee {
namespace {

// Connections that send nothing keep a thread for half a second each. So many a second have to come
// before probes wait for a thread: 64.
constexpr int kThreads = 32;

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const ListenAddress& address,
                                                                    Metrics& metrics,
                                                                    std::function<bool()> ready) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(metrics, std::move(ready)));
  auto http = HttpServer::Start({.address = address,
                                 .field = "metrics.address",
                                 .subject = "metrics are",
                                 .threads = kThreads,
                                 .answer = [answering = server.get()](const HttpRequest& request) {
                                   return answering->Answer(request);
                                 }});
  if (!http.ok()) return http.status();
  server->server_ = *std::move(http);
  return server;
}

std::string MetricsServer::Scrape() const {
  std::ostringstream text;
  const prometheus::TextSerializer serializer;
  metrics_.Scrape([&](prometheus::MetricFamily family) {
    std::vector<prometheus::MetricFamily> one;
    one.push_back(std::move(family));
    serializer.Serialize(text, one);
  });
  serializer.Serialize(text, process_.Collect());
  return std::move(text).str();
}

HttpResponse MetricsServer::Answer(const HttpRequest& request) const {
  const std::string& path = request.path;
  const bool known = path == "/metrics" || path == "/healthz" || path == "/readyz";
  if (!known) return {.status = 404, .body = "not found: /metrics, /healthz, /readyz\n"};
  if (request.method != "GET" && request.method != "HEAD") {
    return {.status = 405, .headers = "Allow: GET, HEAD\r\n", .body = "read-only\n"};
  }
  if (path == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = Scrape()};
  }
  if (path == "/readyz" && !ready_()) return {.status = 503, .body = "not ready\n"};
  return {.body = "ok\n"};
}

}  // namespace levee
