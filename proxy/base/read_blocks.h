// SPDX-License-Identifier: Apache-2.0
// Memory to read into, from which the bytes can be handed on without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/chunk.h"

namespace levee {

// A few large blocks. Each is filled, and then shared by slices until the last of these is gone.
// Slices that live long keep at most kMostBlocks blocks alive, however small they are: when all of
// these are shared, one more block is used, and the caller must copy the bytes out of it. One
// thread.
class ReadBlocks {
 public:
  // `bytes`: the size of each block.
  explicit ReadBlocks(size_t bytes) : bytes_(bytes) {}

  // Returns the memory of a block that no slice shares. Valid until the next call.
  std::span<uint8_t> memory();

  // Returns the first `size` bytes of the last memory() as a chunk that may be kept and sliced.
  // Returns an empty chunk if the caller must copy the bytes instead.
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
