// SPDX-License-Identifier: Apache-2.0
// Makes gRPC calls at a fixed rate, whatever becomes of those before: an open loop. A closed loop
// waits for answers, and so sends less to a proxy that is slow, and hides how long its queue is.
//
// usage: bench_open_loop PORT CONNECTIONS CALLS RATE MESSAGE_FILE
//
// Calls begin at random times (a Poisson process, the same at each run), RATE a second, on each
// connection in turn. Prints a line for each call: the microseconds from the time when it was due
// to its end. So a call that waited in here, since the machine or the peer's limits did not let it
// go, took that time, too. Exits with 1 and a reason when not every call was answered in full.
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/caller_session.h"
#include "bench/loopback.h"

namespace levee::bench {
namespace {

using std::chrono::nanoseconds;

constexpr char kUsage[] = "bench_open_loop PORT CONNECTIONS CALLS RATE MESSAGE_FILE";
constexpr size_t kReadBytes = 256 * 1024;
constexpr auto kLongestWait = std::chrono::seconds(20);  // For the answers after the last call.

nanoseconds Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

struct Connection {
  Connection(int socket, const std::string& path, const std::string& message)
      : fd(socket), session(path, message) {}

  int fd;  // The process closes it at its end.
  CallerSession session;
  std::vector<uint8_t> out;
  size_t sent = 0;
  Interest interest;
};

class OpenLoop {
 public:
  OpenLoop(uint16_t port, int connections, std::string message);

  // Returns the time of each call. Exits with a reason when one failed.
  std::vector<nanoseconds> Run(size_t calls, double per_second);

 private:
  void BeginCalls(size_t calls, nanoseconds now);
  void Receive(Connection& connection);
  void Flush(Connection& connection);
  [[noreturn]] void Fail(const std::string& reason) const;

  const std::string path_ = "/bench.Echo/Unary";
  const std::string message_;
  Poller poller_;
  std::deque<Connection> connections_;
  std::array<uint8_t, kReadBytes> buffer_;
  std::mt19937_64 random_{1};
  std::exponential_distribution<double> gap_ns_;
  nanoseconds due_{};  // When the next call begins.
  size_t begun_ = 0;
  std::vector<nanoseconds> times_;
};

OpenLoop::OpenLoop(uint16_t port, int connections, std::string message)
    : message_(std::move(message)) {
  for (int i = 0; i < connections; ++i) {
    const int fd = ConnectToLoopback(port);
    if (fd < 0) Fail("no connection to the port");
    Connection& connection = connections_.emplace_back(fd, path_, message_);
    poller_.Add(fd, &connection, connection.interest);
    Flush(connection);
  }
}

std::vector<nanoseconds> OpenLoop::Run(size_t calls, double per_second) {
  gap_ns_ = std::exponential_distribution<double>(per_second / 1e9);
  due_ = Now();
  while (times_.size() < calls) {
    const nanoseconds now = Now();
    BeginCalls(calls, now);
    const nanoseconds until = begun_ < calls ? due_ : due_ + kLongestWait;
    if (until < now) Fail("not every call was answered in time");
    for (const epoll_event& event : poller_.Wait(until - now)) {
      Connection& connection = *static_cast<Connection*>(event.data.ptr);
      if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive(connection);
      Flush(connection);
    }
  }
  return std::move(times_);
}

// Begins the calls that are due.
void OpenLoop::BeginCalls(size_t calls, nanoseconds now) {
  while (begun_ < calls && due_ <= now) {
    Connection& connection = connections_[begun_ % connections_.size()];
    connection.session.Begin(due_);
    Flush(connection);
    due_ += nanoseconds(static_cast<int64_t>(gap_ns_(random_)));
    ++begun_;
  }
}

void OpenLoop::Receive(Connection& connection) {
  const ssize_t size = recv(connection.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) Fail("a connection was closed");
  if (!connection.session.Receive({buffer_.data(), static_cast<size_t>(size)})) {
    Fail("a peer broke the protocol");
  }
  const nanoseconds now = Now();
  for (const EndedCall& call : connection.session.TakeEnded()) {
    if (!call.good) Fail("a call was not answered in full");
    times_.push_back(now - call.due);
  }
}

void OpenLoop::Flush(Connection& connection) {
  connection.session.Emit(connection.out);
  while (connection.sent < connection.out.size()) {
    const ssize_t size = send(connection.fd, connection.out.data() + connection.sent,
                              connection.out.size() - connection.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno != EAGAIN) Fail("a connection was closed");
    if (size < 0) break;
    connection.sent += static_cast<size_t>(size);
  }
  if (connection.sent == connection.out.size()) {
    connection.out.clear();
    connection.sent = 0;
  }
  const Interest interest{.read = true, .write = !connection.out.empty()};
  if (connection.interest == interest) return;
  connection.interest = interest;
  poller_.Change(connection.fd, &connection, interest);
}

void OpenLoop::Fail(const std::string& reason) const {
  std::fprintf(stderr, "%s; %zu calls had ended well\n", reason.c_str(), times_.size());
  std::exit(1);
}

int ParseCount(const char* text) {
  int count = 0;
  const char* end = text + std::strlen(text);
  const auto [parsed, error] = std::from_chars(text, end, count);
  if (error != std::errc() || parsed != end || count <= 0) {
    std::fprintf(stderr, "usage: %s\n", kUsage);
    std::exit(2);
  }
  return count;
}

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::perror(path);
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace
}  // namespace levee::bench

int main(int argc, char** argv) {
  using namespace levee::bench;  // NOLINT(google-build-using-namespace)
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s\n", kUsage);
    return 2;
  }
  // The default lets the kernel wake this up to 50 us late.
  prctl(PR_SET_TIMERSLACK, 1);
  OpenLoop loop(ParsePort(argv[1], kUsage), ParseCount(argv[2]), ReadFile(argv[5]));
  const auto times =
      loop.Run(static_cast<size_t>(ParseCount(argv[3])), static_cast<double>(ParseCount(argv[4])));
  for (const std::chrono::nanoseconds time : times) {
    std::printf("%lld\n", static_cast<long long>(time.count() / 1000));
  }
}
