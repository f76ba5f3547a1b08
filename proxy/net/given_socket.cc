// SPDX-License-Identifier: Apache-2.0
#include "net/given_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>

namespace levee::net {

GivenSocket::GivenSocket(ByteStream& kept, int buffer_bytes) {
  int both[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, both) != 0) return;
  for (const int fd : both) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  kept = ByteStream(both[0]);
  fd_ = both[1];
  struct stat made {};
  fstat(fd_, &made);
  device_ = made.st_dev;
  inode_ = made.st_ino;
}

bool GivenSocket::IsOpen() const {
  struct stat found {};
  return fd_ >= 0 && fstat(fd_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

}  // namespace levee::net
