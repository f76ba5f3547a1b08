// SPDX-License-Identifier: Apache-2.0
// The service behind every proxy that is measured: HTTP/2 on one thread, about 1.4 us of CPU per
// call in clear text, so that the proxy and not the service is what limits a run.
//
// usage: bench_echo PORT [PEM [CA]]
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/echo_session.h"
#include "bench/line.h"
#include "bench/loopback.h"

namespace levee::bench {
namespace {

constexpr char kUsage[] =
    "bench_echo PORT [PEM: certificate and key, for TLS [CA: of callers' certificates, for mTLS]]";
constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kWriteBytes = 256 * 1024;

struct Connection {
  Connection(int socket, SSL_CTX* tls) : line(socket, tls) {}

  Line line;
  EchoSession session;
  std::vector<uint8_t> out;
  size_t sent = 0;
  Interest interest;
  bool touched = false;  // It has events in this turn.
  bool closed = false;
};

class EchoServer {
 public:
  // `tls`: an empty pointer for clear text.
  EchoServer(uint16_t port, TlsContext tls)
      : tls_(std::move(tls)), listener_(ListenOnLoopback(port)) {
    poller_.Add(listener_, nullptr, Interest{});
  }

  void RunTurn();

 private:
  void AcceptAll();
  void Receive(Connection& connection);
  void Flush(Connection& connection);
  bool WriteOut(Connection& connection);
  void Touch(Connection& connection);

  const TlsContext tls_;
  Poller poller_;
  int listener_;
  std::list<Connection> connections_;
  std::vector<Connection*> touched_;
  std::array<uint8_t, kReadBytes> buffer_;
};

// Answers leave once per turn, so that calls that came in together share one write.
void EchoServer::RunTurn() {
  for (const epoll_event& event : poller_.Wait()) {
    if (event.data.ptr == nullptr) {
      AcceptAll();
      continue;
    }
    Connection& connection = *static_cast<Connection*>(event.data.ptr);
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive(connection);
    Touch(connection);
  }
  bool any_closed = false;
  for (Connection* connection : touched_) {
    connection->touched = false;
    if (!connection->closed) Flush(*connection);
    if (connection->session.finished()) connection->closed = true;
    any_closed |= connection->closed;
  }
  touched_.clear();
  if (any_closed) connections_.remove_if([](const Connection& c) { return c.closed; });
}

void EchoServer::AcceptAll() {
  for (int fd = Accept(listener_); fd >= 0; fd = Accept(listener_)) {
    Connection& connection = connections_.emplace_back(fd, tls_.get());
    poller_.Add(fd, &connection, Interest{});
    Touch(connection);  // It has SETTINGS to send.
  }
}

void EchoServer::Touch(Connection& connection) {
  if (connection.touched) return;
  connection.touched = true;
  touched_.push_back(&connection);
}

void EchoServer::Receive(Connection& connection) {
  // TLS keeps what it has read and not handed over, of which no event tells.
  for (;;) {
    const std::optional<size_t> size = connection.line.Read(buffer_);
    if (size == 0) return;
    if (!size.has_value() || !connection.session.Receive({buffer_.data(), *size})) {
      connection.closed = true;
      return;
    }
    if (tls_ == nullptr) return;
  }
}

void EchoServer::Flush(Connection& connection) {
  do {
    if (!WriteOut(connection)) break;
    connection.out.clear();
    connection.sent = 0;
    connection.session.Emit(kWriteBytes, connection.out);
  } while (!connection.out.empty());
  const Interest interest{.read = true, .write = !connection.out.empty()};
  if (connection.closed || connection.interest == interest) return;
  connection.interest = interest;
  poller_.Change(connection.line.fd(), &connection, interest);
}

// False when the socket takes no more.
bool EchoServer::WriteOut(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const std::optional<size_t> size =
        connection.line.Write(std::span(connection.out).subspan(connection.sent));
    if (!size.has_value()) connection.closed = true;
    if (size.value_or(0) == 0) return false;
    connection.sent += *size;
  }
  return true;
}

}  // namespace
}  // namespace levee::bench

int main(int argc, char** argv) {
  using namespace levee::bench;  // NOLINT(google-build-using-namespace)
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: %s\n", kUsage);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to connections that their callers have left.
  EchoServer server(ParsePort(argv[1], kUsage),
                    argc == 2 ? TlsContext() : LoadTls(argv[2], argc == 4 ? argv[3] : ""));
  for (;;) server.RunTurn();
}
