// SPDX-License-Identifier: Apache-2.0
// A TCP connection whose ends are far from each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <thread>

#include "integration/tcp.h"

namespace levee {

// Passes the bytes of one connection on, each of them later by the same time. The link itself holds
// as many as come. Any thread.
class FarLink {
 public:
  // `target`: "127.0.0.1:PORT". A round trip takes twice as long as `one_way`.
  FarLink(std::string target, std::chrono::milliseconds one_way);
  ~FarLink();
  FarLink(const FarLink&) = delete;
  FarLink& operator=(const FarLink&) = delete;

  // Where the connection is to be made to.
  std::string address() const { return listener_.address(); }

  // The most bytes that were on their way at once, to the target and from it.
  size_t most_to_target() const { return to_target_.most; }
  size_t most_from_target() const { return from_target_.most; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  struct Direction {
    std::deque<Piece> pieces;
    size_t bytes = 0;
    std::atomic<size_t> most = 0;
  };

  void Run();
  bool Move(int from, int to, Direction& direction);
  int UntilDue() const;

  const std::string target_;
  const std::chrono::milliseconds one_way_;
  TcpListener listener_;
  Direction to_target_;
  Direction from_target_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_{[this] { Run(); }};
};

}  // namespace levee
