// SPDX-License-Identifier: Apache-2.0
#include "net/few_connections.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <utility>

namespace levee::net {
namespace {

// Whether one of its ends has closed the connection.
bool HasEnded(const ByteStream& stream) {
  pollfd state{.fd = stream.descriptor(), .events = POLLRDHUP, .revents = 0};
  return poll(&state, 1, /*timeout=*/0) > 0;
}

}  // namespace

FewConnections::~FewConnections() {
  while (!kept_.empty()) EndOldest();
}

int FewConnections::Add(ByteStream stream) {
  std::erase_if(kept_, HasEnded);
  if (kept_.size() >= most_) EndOldest();
  const int given = fcntl(stream.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (given >= 0) kept_.push_back(std::move(stream));
  return given;
}

void FewConnections::EndOldest() {
  shutdown(kept_.front().descriptor(), SHUT_RDWR);
  kept_.pop_front();
}

}  // namespace levee::net
