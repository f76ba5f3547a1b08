// SPDX-License-Identifier: Apache-2.0
// The HTTP server under the metrics and the admin port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "admin/answering_thread.h"
#include "admin/http_connection.h"
#include "admin/http_message.h"
#include "base/timer_wheel.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "settings/snapshot.h"

namespace levee {

// HTTP/1.1 for people, probes and scripts: one request per connection; bodies are not read. It
// holds few connections, since many are a fault or an attack: the oldest makes room for a new one.
// So clients that send nothing, or take nothing, do not keep others from their answers.
//
// One thread has all connections. It answers itself where `at_once` does; another one makes the
// answers that take time. The functions below belong to the thread that started the server.
class HttpServer final : private net::TurnHandler {
 public:
  static constexpr size_t kMaxConnections = 64;

  // Of answers that clients have not taken. Beyond it the oldest of these connections is closed.
  static constexpr size_t kMaxUnsentBytes = 16 << 20;

  struct Options {
    ListenAddress address;
    std::string field;    // of the configuration, for faults without a position: "admin.address"
    std::string headers;  // of every answer, refusals included, each with its line end
    HttpConnection::Timeouts timeouts = {};

    // Answers in the thread of the connections, for answers that must not wait and take no time.
    // Without a value the request goes to `answer`.
    std::function<std::optional<HttpResponse>(const HttpRequest&)> at_once =
        [](const HttpRequest&) { return std::nullopt; };

    // Called in the other thread, one request after the other.
    std::function<HttpResponse(const HttpRequest&)> answer;
  };

  // Binds and serves. The error says which address failed, why, and which field to change.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);
  ~HttpServer() { Stop(); }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The address it listens on, with the port that the system chose if 0 was given.
  const net::Address& address() const { return address_; }
  uint16_t port() const { return address_.port(); }

  // Stops listening, ends the connections and waits for the threads. This takes no more than the
  // time of `answer`, whatever clients do. A second call does nothing.
  void Stop();

 private:
  explicit HttpServer(Options options);

  absl::Status Listen();
  Instant OnTurnEnd(Instant now) override;
  void OnAccepted(net::ByteStream stream);
  void OnRequest(HttpConnection& asked);
  void End(uint64_t number);
  void Send(HttpConnection& asked, std::string answer);
  std::string BytesOf(const HttpRequest& request, const HttpResponse& response) const;

  const Options options_;
  net::Address address_;
  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  const HttpConnection::Events events_;
  std::unique_ptr<net::Listener> listener_;
  uint64_t accepted_ = 0;
  std::map<uint64_t, HttpConnection> connections_;  // by number, so the first is the oldest
  std::optional<AnsweringThread> answering_;
  std::thread thread_;
};

}  // namespace levee
