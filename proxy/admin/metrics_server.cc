#include "admin/metrics_server.h"

#include <chrono>
#include <cstddef>
#include <future>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "civetweb.h"
#include "prometheus/text_serializer.h"

namespace levee {
namespace {

struct Option {
  const char* name;
  const char* value;
};

constexpr Option kOptions[] = {
    {"num_threads", "2"},
    {"max_request_size", "8192"},  // only a request line and headers are ever read
    {"request_timeout_ms", "1000"},
    {"tcp_nodelay", "1"},  // answers leave at once though they are written in two parts
    {"access_control_allow_origin", ""},  // no answers to the scripts of other sites
};

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const ListenAddress& address,
                                                                    Metrics& metrics,
                                                                    std::function<bool()> ready) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(metrics, std::move(ready)));
  const absl::Status listening = server->Listen(address);
  if (!listening.ok()) return listening;
  return server;
}

MetricsServer::MetricsServer(Metrics& metrics, std::function<bool()> ready)
    : metrics_(metrics), ready_(std::move(ready)) {
  mg_init_library(MG_FEATURES_DEFAULT);
}

MetricsServer::~MetricsServer() {
  Stop();
  mg_exit_library();
}

absl::Status MetricsServer::Listen(const ListenAddress& address) {
  const auto wanted = net::Address::FromIp(address.host, address.port);
  const std::string text = wanted.has_value() ? wanted->ToString() : address.host;
  const auto error = [&](std::string_view why) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: cannot listen on %s: %s",
        address.position.empty() ? "metrics.address" : address.position, text, why));
  };
  if (!wanted.has_value()) return error("not an IP address");
  // The library is built without IPv6 in Debian and would only call it an invalid port.
  if (address.host.find(':') != std::string::npos) {
    return error("metrics are served over IPv4 only; say 127.0.0.1 or 0.0.0.0 for all");
  }
  address_ = *wanted;
  host_ = wanted->IsWildcard() ? "127.0.0.1" : address.host;

  std::vector<const char*> options = {"listening_ports", text.c_str()};
  for (const Option& option : kOptions) {
    options.push_back(option.name);
    options.push_back(option.value);
  }
  options.push_back(nullptr);
  mg_callbacks callbacks = {};
  callbacks.begin_request = &OnRequest;
  callbacks.log_message = &OnLog;
  server_ = mg_start(&callbacks, this, options.data());
  if (server_ == nullptr) return error(StartFault());

  mg_server_port port = {};
  LEVEE_CHECK(mg_get_server_ports(server_, 1, &port) == 1);
  address_.set_port(static_cast<uint16_t>(port.port));
  return absl::OkStatus();
}

std::string MetricsServer::StartFault() {
  const std::lock_guard lock(fault_mutex_);
  // "cannot bind to 127.0.0.1:9461: 98 (Address already in use)"
  std::string_view fault = start_fault_;
  if (fault.empty()) fault = "no memory or threads";
  const size_t open = fault.rfind('(');
  if (open != std::string_view::npos && fault.ends_with(')')) {
    fault = fault.substr(open + 1, fault.size() - open - 2);
  }
  const bool busy = fault.find("in use") != std::string_view::npos;
  return std::string(fault) + (busy ? "; choose another port or free this one" : "");
}

int MetricsServer::OnLog(const mg_connection* connection, const char* message) {
  auto* server = static_cast<MetricsServer*>(mg_get_user_data(mg_get_context(connection)));
  if (server != nullptr) {
    const std::lock_guard lock(server->fault_mutex_);
    // Later ones are consequences of the first, or faults of clients.
    if (server->start_fault_.empty()) server->start_fault_ = message;
  }
  return 1;  // Not to a file.
}

void MetricsServer::Stop() {
  if (server_ == nullptr) return;
  mg_context* server = std::exchange(server_, nullptr);
  const std::future<void> stopped = std::async(std::launch::async, [server] { mg_stop(server); });
  // civetweb looks at its stop flag every two seconds or when somebody connects. The flag may be
  // set only after the first of these connections, hence several.
  auto wait = std::chrono::milliseconds(5);
  while (stopped.wait_for(wait) != std::future_status::ready && wait < std::chrono::seconds(2)) {
    mg_connection* wake = mg_connect_client(host_.c_str(), address_.port(), 0, nullptr, 0);
    if (wake != nullptr) mg_close_connection(wake);
    wait *= 2;
  }
  stopped.wait();
}

std::string MetricsServer::Scrape() const {
  std::ostringstream text;
  const prometheus::TextSerializer serializer;
  metrics_.CollectInto([&](prometheus::MetricFamily family) {
    std::vector<prometheus::MetricFamily> one;
    one.push_back(std::move(family));
    serializer.Serialize(text, one);
  });
  serializer.Serialize(text, process_.Collect());
  return std::move(text).str();
}

MetricsServer::Answer MetricsServer::AnswerTo(std::string_view method,
                                              std::string_view path) const {
  const bool known = path == "/metrics" || path == "/healthz" || path == "/readyz";
  if (!known) return {.status = 404, .body = "not found: /metrics, /healthz, /readyz\n"};
  if (method != "GET" && method != "HEAD") {
    return {.status = 405, .headers = "Allow: GET, HEAD\r\n", .body = "read-only\n"};
  }
  if (path == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = Scrape()};
  }
  if (path == "/readyz" && !ready_()) return {.status = 503, .body = "not ready\n"};
  return {.body = "ok\n"};
}

int MetricsServer::OnRequest(mg_connection* connection) {
  const mg_request_info* request = mg_get_request_info(connection);
  const auto* server = static_cast<const MetricsServer*>(request->user_data);
  const std::string_view method = request->request_method;
  const char* path = request->local_uri;
  const Answer answer = server->AnswerTo(method, path != nullptr ? path : "");
  const std::string head = absl::StrFormat(
      "HTTP/1.1 %d %s\r\n"
      "Content-Type: %s\r\n"
      "Content-Length: %d\r\n"
      "%s"
      "Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n\r\n",
      answer.status, Reason(answer.status), answer.type, answer.body.size(), answer.headers);
  mg_write(connection, head.data(), head.size());
  if (method != "HEAD") mg_write(connection, answer.body.data(), answer.body.size());
  return answer.status;  // Not 0: the request has been answered.
}

}  // namespace levee
