// SPDX-License-Identifier: Apache-2.0
// Bounds the connections that another library serves.
#pragma once

#include <cstddef>
#include <deque>

#include "net/byte_stream.h"

namespace levee::net {

// Knows the connections whose descriptors were given away, as many as `most`: the oldest is closed
// for a new one, whoever serves it. One thread.
class FewConnections {
 public:
  // `most`: at least 1.
  explicit FewConnections(size_t most) : most_(most) {}
  ~FewConnections();
  FewConnections(const FewConnections&) = delete;
  FewConnections& operator=(const FewConnections&) = delete;

  // Returns a descriptor for who serves the connection, which owns it; -1: the process has none
  // left, and the connection is closed. Each connection takes two descriptors.
  int Add(ByteStream stream);

 private:
  void EndOldest();

  const size_t most_;
  std::deque<ByteStream> kept_;  // the oldest first
};

}  // namespace levee::net
