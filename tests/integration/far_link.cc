// SPDX-License-Identifier: Apache-2.0
#include "integration/far_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace levee {

FarLink::FarLink(std::string target, std::chrono::milliseconds one_way)
    : target_(std::move(target)), one_way_(one_way) {}

FarLink::~FarLink() {
  stopped_ = true;
  listener_.Shutdown();
  thread_.join();
}

void FarLink::Run() {
  const int caller = listener_.Accept();
  if (caller < 0) return;
  const int target = ConnectTo(target_);
  while (!stopped_ && Move(caller, target, to_target_) && Move(target, caller, from_target_)) {
    std::array<pollfd, 2> ends = {pollfd{caller, POLLIN, 0}, pollfd{target, POLLIN, 0}};
    poll(ends.data(), ends.size(), UntilDue());
  }
  close(caller);
  close(target);
}

// False at the end of the connection.
bool FarLink::Move(int from, int to, Direction& direction) {
  std::array<char, 64 * 1024> buffer;
  const Clock::time_point now = Clock::now();
  for (;;) {
    const ssize_t size = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) break;
    if (size <= 0) return false;
    direction.pieces.push_back({now + one_way_, std::string(buffer.data(), size)});
    direction.bytes += size;
    direction.most = std::max(direction.most.load(), direction.bytes);
  }
  while (!direction.pieces.empty() && direction.pieces.front().due <= now) {
    std::string& bytes = direction.pieces.front().bytes;
    const ssize_t size = send(to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) return errno == EAGAIN;
    direction.bytes -= size;
    bytes.erase(0, size);
    if (bytes.empty()) direction.pieces.pop_front();
  }
  return true;
}

// Milliseconds until something is to be passed on.
int FarLink::UntilDue() const {
  Clock::time_point due = Clock::now() + std::chrono::milliseconds(50);
  for (const Direction* direction : {&to_target_, &from_target_}) {
    if (!direction->pieces.empty()) due = std::min(due, direction->pieces.front().due);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 1));
}

}  // namespace levee
