// Memory to read into that can be handed on without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/chunk.h"

namespace levee {

// A few large blocks, each filled and then shared by slices until the last of these is gone. What
// is kept for long, a small slice of each block, cannot keep more memory than these alive: when all
// are shared there is one more, which is only to be copied from. One thread.
class ReadBlocks {
 public:
  // `bytes` of each block.
  explicit ReadBlocks(size_t bytes) : bytes_(bytes) {}

  // Memory of one block that nobody shares. Valid until the next call.
  std::span<uint8_t> memory();

  // The first `size` bytes of what memory() returned, to be kept and sliced; empty if they must be
  // copied.
  Chunk Filled(size_t size) const {
    return current_ < kMostBlocks ? blocks_[current_].Slice(0, size) : Chunk();
  }

 private:
  static constexpr size_t kMostBlocks = 16;

  const size_t bytes_;
  std::vector<Chunk> blocks_;  // up to kMostBlocks, and the one that is not shared
  size_t current_ = 0;
};

}  // namespace levee
