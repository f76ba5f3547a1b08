// SPDX-License-Identifier: Apache-2.0
// The HTTP server under the metrics and the admin port.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/http_message.h"
#include "net/address.h"
#include "settings/snapshot.h"

struct mg_connection;
struct mg_context;

namespace levee {

// HTTP/1.1 on civetweb for people, probes and scripts: one request per connection; bodies are read
// up to 1 KiB and ignored. A request's head is bounded in size. A client that does not send it
// within half a second, or does not take its answer within five seconds, is disconnected. Further
// connections wait in a short queue, and then in the system's.
//
// One thread accepts and a few answer, so that one slow client does not hold up the others. The
// functions below belong to the thread that started the server.
class HttpServer {
 public:
  struct Options {
    ListenAddress address;
    std::string field;    // of the configuration, for faults without a position: "admin.address"
    std::string subject;  // likewise for "metrics are served over IPv4 only": "metrics are"
    int threads = 8;      // that answer requests
    std::string headers;  // of every answer, error pages included, each with its line end
    // Called on the answering threads, several at a time.
    std::function<HttpResponse(const HttpRequest&)> answer;
  };

  // Binds and serves. The error says which address failed, why, and which field to change.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const { return address_; }
  uint16_t port() const { return address_.port(); }

  // Stops listening, ends the connections and waits for the threads. This takes some milliseconds
  // and the time of `answer`, whatever clients do. A second call does nothing.
  void Stop();

 private:
  explicit HttpServer(Options options);

  absl::Status Listen();
  std::string StartFault();
  HttpResponse AnswerTo(const HttpRequest& request, long long body_bytes) const;
  void Send(mg_connection* connection, const HttpResponse& response, bool with_body) const;

  // Called by civetweb.
  static int OnRequest(mg_connection* connection);
  static int OnError(mg_connection* connection, int status, const char* message);
  static int OnLog(const mg_connection* connection, const char* message);

  const Options options_;
  net::Address address_;
  std::string host_;  // the host by which this process reaches `address_`
  mg_context* server_ = nullptr;

  // While civetweb starts, the reason of a failure is only in its log messages.
  std::mutex fault_mutex_;
  std::string start_fault_;
};

}  // namespace levee
