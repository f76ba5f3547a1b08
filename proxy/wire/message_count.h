// SPDX-License-Identifier: Apache-2.0
// Whether a body is one message, as both of a unary call are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/chunk.h"

namespace levee {

// Looks at a body as its pieces come. Each message has a prefix of five bytes with
// its length (gRPC over HTTP/2).
class MessageCount {
 public:
  void Add(const Chunk& piece) {
    if (bytes_ == 0 && piece.size() >= kPrefix) {
      const uint8_t* const at = piece.data();
      length_ = uint32_t{at[1]} << 24 | uint32_t{at[2]} << 16 | uint32_t{at[3]} << 8 | at[4];
      bytes_ = piece.size();
      return;
    }
    const size_t missing = bytes_ < kPrefix ? kPrefix - bytes_ : 0;
    for (const uint8_t byte : std::span(piece.data(), std::min(missing, piece.size()))) {
      length_ = length_ << 8 | byte;  // the flag, which comes first, is shifted out
    }
    bytes_ += piece.size();
  }

  // Whether a whole message has come.
  bool HasOne() const { return bytes_ >= kPrefix && bytes_ >= first(); }

  // Whether all that came is one message, or nothing.
  bool AtMostOne() const { return bytes_ == 0 || (bytes_ >= kPrefix && bytes_ == first()); }

  // Whether more than one message has begun to come.
  bool IsStream() const { return bytes_ >= kPrefix && bytes_ > first(); }

 private:
  static constexpr size_t kPrefix = 5;

  // The length of the first message with its prefix, once that is there.
  uint64_t first() const { return kPrefix + length_; }

  uint64_t bytes_ = 0;
  uint32_t length_ = 0;
};

}  // namespace levee
