// SPDX-License-Identifier: Apache-2.0
#include "admin/http_server.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "civetweb.h"
#include "net/end_connections.h"
#include "net/event_loop.h"

namespace levee {
namespace {

struct Option {
  const char* name;
  const char* value;
};

// How long the library waits for a head, and for a client that takes or sends nothing.
constexpr absl::Duration kPatience = absl::Milliseconds(500);

constexpr Option kServerOptions[] = {
    {"max_request_size", "8192"},         // of a request line with its headers
    {"request_timeout_ms", "500"},        // kPatience
    {"connection_queue", "20"},           // connections that wait for a thread
    {"tcp_nodelay", "1"},                 // answers leave at once though written in parts
    {"access_control_allow_origin", ""},  // no answers to the scripts of other sites
};

constexpr long long kMaxBodyBytes = 1024;
// At most this much is read after an answer: a connection that is closed with bytes unread is
// reset, and the client might not see the answer.
constexpr long long kMaxUnreadBytes = 8192;
constexpr absl::Duration kUnreadTimeout = absl::Milliseconds(500);

constexpr size_t kPieceBytes = 16 << 10;
constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);

HttpRequest ToRequest(const mg_request_info& info) {
  const auto text = [](const char* value) { return std::string(value != nullptr ? value : ""); };
  HttpRequest request = {.method = text(info.request_method),
                         .path = text(info.local_uri),
                         .query = text(info.query_string)};
  for (int i = 0; i < info.num_headers; ++i) {
    request.headers.emplace_back(text(info.http_headers[i].name), text(info.http_headers[i].value));
  }
  return request;
}

// Returns false if the client is gone or too slow, or if the server stops. The library itself gives
// up when the client has taken nothing for kPatience, which may happen on a bad line.
bool Write(mg_connection* connection, std::string_view bytes, Instant deadline) {
  while (!bytes.empty()) {
    const Instant now = net::ReadClock();
    if (now >= deadline) return false;
    const int taken = mg_write(connection, bytes.data(), std::min(bytes.size(), kPieceBytes));
    if (taken > 0) {
      bytes.remove_prefix(static_cast<size_t>(taken));
    } else if (net::ReadClock() - now < kPatience) {
      return false;
    }
  }
  return true;
}

// Reads one byte at a time, since the library waits for as many bytes as it is asked for, however
// slowly they come.
void ReadRest(mg_connection* connection, long long bytes) {
  const Instant deadline = net::ReadClock() + kUnreadTimeout;
  char byte = 0;
  for (bytes = std::min(bytes, kMaxUnreadBytes); bytes > 0; --bytes) {
    if (net::ReadClock() >= deadline || mg_read(connection, &byte, 1) <= 0) return;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(options)));
  const absl::Status listening = server->Listen();
  if (!listening.ok()) return listening;
  return server;
}

HttpServer::HttpServer(Options options) : options_(std::move(options)) {
  mg_init_library(MG_FEATURES_DEFAULT);
}

HttpServer::~HttpServer() {
  Stop();
  mg_exit_library();
}

absl::Status HttpServer::Listen() {
  const ListenAddress& address = options_.address;
  const auto wanted = net::Address::FromIp(address.host, address.port);
  const std::string text = wanted.has_value() ? wanted->ToString() : address.host;
  const auto error = [&](std::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: cannot listen on %s: %s",
                        address.position.empty() ? options_.field : address.position, text, why));
  };
  if (!wanted.has_value()) return error("not an IP address");
  // Debian builds the library without IPv6, and it would only call the address an invalid port.
  if (address.host.find(':') != std::string::npos) {
    return error(options_.subject + " served over IPv4 only; say 127.0.0.1 or 0.0.0.0 for all");
  }
  address_ = *wanted;
  host_ = wanted->IsWildcard() ? "127.0.0.1" : address.host;

  const std::string threads = std::to_string(options_.threads);
  std::vector<const char*> options = {"listening_ports", text.c_str(), "num_threads",
                                      threads.c_str()};
  for (const Option& option : kServerOptions) {
    options.push_back(option.name);
    options.push_back(option.value);
  }
  options.push_back(nullptr);
  mg_callbacks callbacks = {};
  callbacks.begin_request = &OnRequest;
  callbacks.http_error = &OnError;
  callbacks.log_message = &OnLog;
  server_ = mg_start(&callbacks, this, options.data());
  if (server_ == nullptr) return error(StartFault());

  mg_server_port port = {};
  LEVEE_CHECK(mg_get_server_ports(server_, 1, &port) == 1);
  address_.set_port(static_cast<uint16_t>(port.port));
  return absl::OkStatus();
}

std::string HttpServer::StartFault() {
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

int HttpServer::OnLog(const mg_connection* connection, const char* message) {
  auto* server = static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  if (server != nullptr) {
    const std::lock_guard lock(server->fault_mutex_);
    // Later messages are consequences of the first, or faults of clients.
    if (server->start_fault_.empty()) server->start_fault_ = message;
  }
  return 1;  // The library must not write it to a file.
}

void HttpServer::Stop() {
  if (server_ == nullptr) return;
  mg_context* server = std::exchange(server_, nullptr);
  const std::future<void> stopped = std::async(std::launch::async, [server] { mg_stop(server); });
  // civetweb checks its stop flag every two seconds or when a client connects. The flag may be set
  // after the first of these connections, so there are several.
  auto wait = std::chrono::milliseconds(5);
  while (stopped.wait_for(wait) != std::future_status::ready && wait < std::chrono::seconds(2)) {
    mg_connection* wake = mg_connect_client(host_.c_str(), address_.port(), 0, nullptr, 0);
    if (wake != nullptr) mg_close_connection(wake);
    net::EndConnections(address_.port());
    wait *= 2;
  }
  stopped.wait();
}

void HttpServer::Send(mg_connection* connection, const HttpResponse& response,
                      bool with_body) const {
  // Otherwise civetweb would read a body to its end afterwards, however slowly it comes.
  mg_disable_connection_keep_alive(connection);
  const std::string head = absl::StrFormat(
      "HTTP/1.1 %d %s\r\n"
      "Content-Type: %s\r\n"
      "Content-Length: %d\r\n"
      "%s%s"
      "Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n\r\n",
      response.status, mg_get_response_code_text(connection, response.status), response.type,
      response.body.size(), response.headers, options_.headers);
  const Instant deadline = net::ReadClock() + kAnswerTimeout;
  if (Write(connection, head, deadline) && with_body) Write(connection, response.body, deadline);
}

HttpResponse HttpServer::AnswerTo(const HttpRequest& request, long long body_bytes) const {
  // The library drops further headers.
  if (request.headers.size() >= MG_MAX_HEADERS) return {.status = 431, .body = "many headers\n"};
  if (request.HasHeader("transfer-encoding") || body_bytes > kMaxBodyBytes) {
    return {.status = 413, .body = "no request needs a body here\n"};
  }
  return options_.answer(request);
}

int HttpServer::OnRequest(mg_connection* connection) {
  const mg_request_info* info = mg_get_request_info(connection);
  const auto* server = static_cast<const HttpServer*>(info->user_data);
  const HttpRequest request = ToRequest(*info);
  const HttpResponse response = server->AnswerTo(request, info->content_length);
  server->Send(connection, response, request.method != "HEAD");
  if (!request.HasHeader("transfer-encoding")) ReadRest(connection, info->content_length);
  return response.status;  // Not 0: the request has been answered.
}

int HttpServer::OnError(mg_connection* connection, int status, const char* message) {
  const auto* server = static_cast<const HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  server->Send(connection, {.status = status, .body = std::string(message) + "\n"}, true);
  return 0;  // The client has its answer.
}

}  // namespace levee
