// SPDX-License-Identifier: Apache-2.0
// The code that the helper programs of the benchmark share: sockets on 127.0.0.1 and waiting
// for them.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace levee::bench {

// Reads a port from a command line; prints `usage` and exits with 2 when it is none.
uint16_t ParsePort(const char* text, const char* usage);

// Returns a non-blocking socket that listens on all of 127.0.0.0/8 and on nothing else; exits with
// the system's reason when there is none.
int ListenOnLoopback(uint16_t port);

// Returns the next waiting connection, non-blocking and without Nagle's delay, or -1.
int Accept(int listener);

// Returns a connected socket without Nagle's delay, or -1. It blocks: on loopback, connecting takes
// microseconds, and all programs use MSG_DONTWAIT afterwards.
int ConnectToLoopback(uint16_t port);

// The events that a socket is watched for.
struct Interest {
  bool read = true;
  bool write = false;
  bool operator==(const Interest&) const = default;
};

// A thin layer over epoll. `owner` comes back with each event of the socket.
class Poller {
 public:
  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  void Add(int fd, void* owner, Interest interest);
  void Change(int fd, void* owner, Interest interest);

  // Blocks until a socket is ready, at most `longest`. The events are valid until the next call.
  std::span<const epoll_event> Wait(std::optional<std::chrono::nanoseconds> longest = std::nullopt);

 private:
  int fd_;
  std::array<epoll_event, 256> events_;
};

}  // namespace levee::bench
