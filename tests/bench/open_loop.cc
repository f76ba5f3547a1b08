// SPDX-License-Identifier: Apache-2.0
// Makes gRPC calls at a fixed rate, whatever becomes of those before: an open loop. A closed loop
// waits for answers, and so sends less to a proxy that is slow, and hides how long its queue is.
//
// usage: bench_open_loop PORT[,PORT...] CONNECTIONS CALLS RATE MESSAGE_FILE
//
// Calls begin at random times (a Poisson process, the same at each run), RATE a second, on each
// connection in turn. CONNECTIONS and CALLS are those of each port; calls go to the ports in turn,
// so that what the machine does meanwhile falls upon all of them. Prints CALLS lines with a column
// for each port: the microseconds from the time when a call was due to its end. So a call that
// waited in here, since the machine or the peer's limits did not let it go, took that time, too.
// Exits with 1 and a reason when not every call was answered in full.
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

constexpr char kUsage[] = "bench_open_loop PORT[,PORT...] CONNECTIONS CALLS RATE MESSAGE_FILE";
constexpr size_t kReadBytes = 256 * 1024;
constexpr auto kLongestWait = std::chrono::seconds(20);  // For the answers after the last call.

nanoseconds Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

struct Connection {
  Connection(size_t to, int socket, const std::string& path, const std::string& message)
      : port(to), fd(socket), session(path, message) {}

  size_t port;  // its number among the ports
  int fd;       // The process closes it at its end.
  CallerSession session;
  std::vector<uint8_t> out;
  size_t sent = 0;
  Interest interest;
};

class OpenLoop {
 public:
  // Makes so many connections to each port.
  OpenLoop(const std::vector<uint16_t>& ports, int connections, std::string message);

  // Makes so many calls to each port. Returns the times of each port's calls. Exits with a reason
  // when one failed.
  std::vector<std::vector<nanoseconds>> Run(size_t calls, double per_second);

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
  size_t ended_ = 0;
  std::vector<std::vector<nanoseconds>> times_;  // by port
};

OpenLoop::OpenLoop(const std::vector<uint16_t>& ports, int connections, std::string message)
    : message_(std::move(message)), times_(ports.size()) {
  for (int i = 0; i < connections; ++i) {
    for (size_t port = 0; port < ports.size(); ++port) {
      const int fd = ConnectToLoopback(ports[port]);
      if (fd < 0) Fail("no connection to the port");
      Connection& connection = connections_.emplace_back(port, fd, path_, message_);
      poller_.Add(fd, &connection, connection.interest);
      Flush(connection);
    }
  }
}

std::vector<std::vector<nanoseconds>> OpenLoop::Run(size_t calls, double per_second) {
  gap_ns_ = std::exponential_distribution<double>(per_second / 1e9);
  calls *= times_.size();
  due_ = Now();
  while (ended_ < calls) {
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
    times_[connection.port].push_back(now - call.due);
    ++ended_;
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
  std::fprintf(stderr, "%s; %zu calls had ended well\n", reason.c_str(), ended_);
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

std::vector<uint16_t> ParsePorts(const std::string& text) {
  std::vector<uint16_t> ports;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    ports.push_back(ParsePort(text.substr(begin, end - begin).c_str(), kUsage));
  }
  return ports;
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
  OpenLoop loop(ParsePorts(argv[1]), ParseCount(argv[2]), ReadFile(argv[5]));
  const auto calls = static_cast<size_t>(ParseCount(argv[3]));
  const auto times = loop.Run(calls, static_cast<double>(ParseCount(argv[4])));
  for (size_t call = 0; call < calls; ++call) {
    for (size_t port = 0; port < times.size(); ++port) {
      std::printf("%s%lld", port == 0 ? "" : "\t",
                  static_cast<long long>(times[port][call].count() / 1000));
    }
    std::printf("\n");
  }
}
