// SPDX-License-Identifier: Apache-2.0
#include "admin/metrics_server.h"

#include <sstream>
#include <utility>
#include <vector>

#include "prometheus/text_serializer.h"

namespace levee {
absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const ListenAddress& address,
                                                                    Metrics& metrics,
                                                                    std::function<bool()> ready) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(metrics, std::move(ready)));
  auto http = HttpServer::Start(
      {.address = address,
       .field = "metrics.address",
       .at_once = [answering = server.get()](
                      const HttpRequest& request) { return answering->AnswerAtOnce(request); },
       .answer = [answering = server.get()](const HttpRequest&) { return answering->Scrape(); }});
  if (!http.ok()) return http.status();
  server->server_ = *std::move(http);
  return server;
}

HttpResponse MetricsServer::Scrape() const {
  std::ostringstream text;
  const prometheus::TextSerializer serializer;
  metrics_.Scrape([&](prometheus::MetricFamily family) {
    std::vector<prometheus::MetricFamily> one;
    one.push_back(std::move(family));
    serializer.Serialize(text, one);
  });
  serializer.Serialize(text, process_.Collect());
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(text).str()};
}

std::optional<HttpResponse> MetricsServer::AnswerAtOnce(const HttpRequest& request) const {
  const std::string& path = request.path;
  const bool known = path == "/metrics" || path == "/healthz" || path == "/readyz";
  if (!known)
    return HttpResponse{.status = 404, .body = "not found: /metrics, /healthz, /readyz\n"};
  if (request.method != "GET" && request.method != "HEAD") {
    return HttpResponse{.status = 405, .headers = "Allow: GET, HEAD\r\n", .body = "read-only\n"};
  }
  if (path == "/metrics") return std::nullopt;
  if (path == "/readyz" && !ready_()) return HttpResponse{.status = 503, .body = "not ready\n"};
  return HttpResponse{.body = "ok\n"};
}

}  // namespace levee
