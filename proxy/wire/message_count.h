// SPDX-License-Identifier: Apache-2.0
// Whether a body is one message, as both of a unary call are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"

namespace levee {

// Looks at a body as its pieces come. Each message has a prefix of five bytes with
// its length (gRPC over HTTP/2). A prefix that does not come in one piece is not read; the body then
// does not count as one message.
class MessageCount {
 public:
  void Add(const Chunk& piece) {
    constexpr size_t kPrefix = 5;
    if (bytes_ == 0 && piece.size() >= kPrefix) {
      const uint8_t* const p = piece.data();
      first_ = kPrefix + (uint64_t{p[1]} << 24 | uint64_t{p[2]} << 16 | uint64_t{p[3]} << 8 | p[4]);
    }
    bytes_ += piece.size();
  }

  // Whether all that came is one message, or nothing.
  bool AtMostOne() const { return bytes_ == first_; }

  // Whether more than one message has begun to come, as far as is known.
  bool IsStream() const { return first_ > 0 && bytes_ > first_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t first_ = 0;  // the length of the first message with its prefix
};

}  // namespace levee
