// SPDX-License-Identifier: Apache-2.0
// A port on which nobody listens.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace levee {

// Refuses connections. Held for as long as this lives: the system gives a port that was merely
// closed to the next who asks for any, which may be a test that runs beside this one.
class ClosedPort {
 public:
  ClosedPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    bind(fd_, reinterpret_cast<const sockaddr*>(&at), size);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
  }
  ~ClosedPort() { close(fd_); }
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  uint16_t port() const { return port_; }

 private:
  const int fd_;
  uint16_t port_ = 0;
};

}  // namespace levee
