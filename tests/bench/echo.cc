// SPDX-License-Identifier: Apache-2.0
// The service behind every proxy that is measured: h2c on one thread, about 1.4 us of CPU per call,
// so that the proxy and not the service is what limits a run.
//
// usage: bench_echo PORT
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <list>
#include <vector>

#include "bench/echo_session.h"
#include "bench/loopback.h"

namespace levee::bench {
namespace {

constexpr char kUsage[] = "bench_echo PORT";
constexpr size_t kReadBytes = 256 * 1024;
constexpr size_t kWriteBytes = 256 * 1024;

struct Connection {
  explicit Connection(int socket) : fd(socket) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(fd); }

  int fd;
  EchoSession session;
  std::vector<uint8_t> out;
  size_t sent = 0;
  Interest interest;
  bool touched = false;  // It has events in this turn.
  bool closed = false;
};

class EchoServer {
 public:
  explicit EchoServer(uint16_t port) : listener_(ListenOnLoopback(port)) {
    poller_.Add(listener_, nullptr, Interest{});
  }

  void RunTurn();

 private:
  void AcceptAll();
  void Receive(Connection& connection);
  void Flush(Connection& connection);
  bool WriteOut(Connection& connection);
  void Touch(Connection& connection);

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
    Connection& connection = connections_.emplace_back(fd);
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
  const ssize_t size = recv(connection.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0 || !connection.session.Receive({buffer_.data(), static_cast<size_t>(size)})) {
    connection.closed = true;
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
  poller_.Change(connection.fd, &connection, interest);
}

// False when the socket takes no more.
bool EchoServer::WriteOut(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const ssize_t size = send(connection.fd, connection.out.data() + connection.sent,
                              connection.out.size() - connection.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0) {
      connection.closed = errno != EAGAIN;
      return false;
    }
    connection.sent += static_cast<size_t>(size);
  }
  return true;
}

}  // namespace
}  // namespace levee::bench

int main(int argc, char** argv) {
  using namespace levee::bench;  // NOLINT(google-build-using-namespace)
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s\n", kUsage);
    return 2;
  }
  EchoServer server(ParsePort(argv[1], kUsage));
  for (;;) server.RunTurn();
}
