// SPDX-License-Identifier: Apache-2.0
// A fuzzer's input, taken apart from its front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/chunk.h"

namespace levee {

// Every decision takes bytes in order, so that a mutation in the middle of an input leaves what
// came before it as it was. An exhausted source yields zeros.
class ByteSource {
 public:
  explicit ByteSource(ByteSpan bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }

  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  // In [0, bound), from as few bytes as `bound` needs. `bound` > 0.
  uint64_t Below(uint64_t bound) {
    uint64_t number = 0;
    for (uint64_t rest = bound - 1; rest > 0; rest >>= 8) number = number << 8 | Byte();
    return number % bound;
  }

  bool Flag() { return (Byte() & 1) != 0; }

  // Up to `size` bytes as they are.
  std::string Take(size_t size) {
    size = std::min(size, bytes_.size());
    std::string taken(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

 private:
  ByteSpan bytes_;
};

}  // namespace levee
