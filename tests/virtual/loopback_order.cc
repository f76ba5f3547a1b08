// SPDX-License-Identifier: Apache-2.0
#include "virtual/loopback_order.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace levee {
namespace {

// A connection takes three packets, each of which is sent as the one before arrives.
constexpr int kPacketsInARow = 4;

}  // namespace

LoopbackOrder::LoopbackOrder() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  LEVEE_CHECK(sched_getaffinity(0, sizeof before_, &before_) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  LEVEE_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  sockaddr_in itself{};
  itself.sin_family = AF_INET;
  itself.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&itself);
  socklen_t size = sizeof itself;
  LEVEE_CHECK(bind(fd_, address, size) == 0);
  LEVEE_CHECK(getsockname(fd_, address, &size) == 0);
  LEVEE_CHECK(connect(fd_, address, size) == 0);
}

LoopbackOrder::~LoopbackOrder() {
  close(fd_);
  LEVEE_CHECK(sched_setaffinity(0, sizeof before_, &before_) == 0);
}

void LoopbackOrder::Settle() const {
  for (int i = 0; i < kPacketsInARow; ++i) {
    char byte = 0;
    LEVEE_CHECK(send(fd_, &byte, 1, 0) == 1);
    LEVEE_CHECK(recv(fd_, &byte, 1, 0) == 1);
  }
}

}  // namespace levee
