// SPDX-License-Identifier: Apache-2.0
#include "net/end_connections.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"

namespace levee::net {
namespace {

bool IsConnectionOf(int fd, uint16_t port) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.sin_family != AF_INET || address.sin_port != htons(port)) return false;
  int listens = 0;
  size = sizeof listens;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 0;
}

}  // namespace

void EndConnections(uint16_t port) {
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", fault)) {
    int number = -1;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &number)) continue;
    // A descriptor of our own is needed, since `number` may come to mean another socket at any
    // time.
    const int fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) continue;
    if (IsConnectionOf(fd, port)) shutdown(fd, SHUT_RDWR);
    close(fd);
  }
}

}  // namespace levee::net
