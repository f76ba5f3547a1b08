// SPDX-License-Identifier: Apache-2.0
#include "virtual/wire_end.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace levee {

bool WireEnd::Write(size_t most) {
  if (fd_ < 0 || unsent_.empty()) return false;
  const ssize_t written = send(fd_, unsent_.data(), std::min(most, unsent_.size()), MSG_NOSIGNAL);
  if (written < 0) {
    // The worker has closed its end; what it said before that can still be read.
    if (errno != EAGAIN) unsent_.clear();
    return false;
  }
  unsent_.erase(0, static_cast<size_t>(written));
  return true;
}

bool WireEnd::Read(std::string& to) {
  std::array<char, 16 * 1024> buffer;
  if (fd_ < 0) return false;
  const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
  if (size < 0 && errno == EAGAIN) return false;
  if (size <= 0) {
    Close();
    return true;
  }
  to.append(buffer.data(), static_cast<size_t>(size));
  return true;
}

void WireEnd::HalfClose() {
  if (fd_ >= 0) shutdown(fd_, SHUT_WR);
}

void WireEnd::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace levee
