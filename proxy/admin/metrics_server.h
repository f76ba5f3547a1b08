// SPDX-License-Identifier: Apache-2.0
// The HTTP port for Prometheus and probes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "admin/http_message.h"
#include "admin/http_server.h"
#include "admin/process_metrics.h"
#include "net/address.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"

namespace levee {

// Answers GET and HEAD of
//   /metrics   all metrics, Prometheus text format 0.0.4
//   /healthz   200 while the process serves
//   /readyz    200 if ready, else 503
// and nothing else, read-only. Neither a slow scrape nor silent connections hold up a probe.
// HttpServer's rules for requests and threads apply.
class MetricsServer {
 public:
  // Binds and serves. `metrics` must outlive the server. `ready` is called in the server's thread,
  // and takes no time. The error says which address failed, why, and which field of the
  // configuration to change.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const ListenAddress& address,
                                                              Metrics& metrics,
                                                              std::function<bool()> ready);

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const { return server_->address(); }
  uint16_t port() const { return server_->port(); }

  // Stops as HttpServer::Stop does, within a second. A second call does nothing.
  void Stop() { server_->Stop(); }

 private:
  MetricsServer(Metrics& metrics, std::function<bool()> ready)
      : metrics_(metrics), ready_(std::move(ready)) {}

  std::optional<HttpResponse> AnswerAtOnce(const HttpRequest& request) const;
  HttpResponse Scrape() const;

  Metrics& metrics_;
  const ProcessMetrics process_;
  const std::function<bool()> ready_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace levee
