// What Prometheus and probes ask of a sidecar, over HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/process_metrics.h"
#include "config/snapshot.h"
#include "net/address.h"
#include "telemetry/metrics.h"

struct mg_connection;
struct mg_context;

namespace levee {

// Answers GET and HEAD of
//   /metrics   all metrics, Prometheus text format 0.0.4
//   /healthz   200 while the process serves
//   /readyz    200 if ready, else 503
// and nothing else, one request per connection. Read-only. Requests are bounded in size, and a
// client that neither sends nor reads is cut off, so that it cannot keep probes out for long.
//
// Runs on threads of civetweb: one that accepts and two that answer, so that a slow scrape does
// not hold up a probe. The functions below belong to the thread that started it. Starting makes the
// process ignore SIGPIPE.
class MetricsServer {
 public:
  // Binds and serves. `metrics` outlives the server. `ready` is called on the answering threads.
  // The error says which address failed, why, and which field of the configuration to change.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const ListenAddress& address,
                                                              Metrics& metrics,
                                                              std::function<bool()> ready);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Where it listens, with the port that the system picked if that was 0.
  const net::Address& address() const { return address_; }
  uint16_t port() const { return address_.port(); }

  // Stops listening and waits for the threads, at most about a second if clients dawdle. Does
  // nothing the second time.
  void Stop();

 private:
  struct Answer {
    int status = 200;
    std::string_view headers;  // beyond those that every answer has, each with its line end
    std::string_view type = "text/plain; charset=utf-8";
    std::string body;
  };

  MetricsServer(Metrics& metrics, std::function<bool()> ready);

  absl::Status Listen(const ListenAddress& address);
  std::string StartFault();
  Answer AnswerTo(std::string_view method, std::string_view path) const;
  std::string Scrape() const;

  // Called by civetweb.
  static int OnRequest(mg_connection* connection);
  static int OnLog(const mg_connection* connection, const char* message);

  Metrics& metrics_;
  const ProcessMetrics process_;
  const std::function<bool()> ready_;
  net::Address address_;
  std::string host_;  // what reaches `address_` from here
  mg_context* server_ = nullptr;

  // What civetweb reports while it starts is the only place where it says why it cannot.
  std::mutex fault_mutex_;
  std::string start_fault_;
};

}  // namespace levee
