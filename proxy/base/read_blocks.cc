// SPDX-License-Identifier: Apache-2.0
#include "base/read_blocks.h"

namespace levee {

std::span<uint8_t> ReadBlocks::memory() {
  const auto is_free = [](const Chunk& block) { return block.block_->references == 1; };
  current_ = 0;
  while (current_ < blocks_.size() && !is_free(blocks_[current_])) ++current_;
  if (current_ == blocks_.size()) blocks_.push_back(Chunk::Allocate(bytes_));
  return {reinterpret_cast<uint8_t*>(blocks_[current_].block_ + 1), bytes_};
}

}  // namespace levee
