// SPDX-License-Identifier: Apache-2.0
// A port of the system's choice.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace levee::ledger {

struct Listening {
  int fd = -1;
  uint16_t port = 0;
};

// Listens on loopback without blocking; exits with the system's reason if it cannot.
inline Listening ListenAnywhere() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("listening");
    std::exit(1);
  }
  return {fd, ntohs(address.sin_port)};
}

}  // namespace levee::ledger
