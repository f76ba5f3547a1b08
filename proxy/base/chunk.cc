// SPDX-License-Identifier: Apache-2.0
#include "base/chunk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/block_cache.h"
#include "base/check.h"

namespace levee {

Chunk Chunk::Allocate(size_t size) {
  LEVEE_CHECK(size <= UINT32_MAX - sizeof(Block));
  Chunk chunk;
  chunk.block_ = new (AllocateBlock(sizeof(Block) + size)) Block{1};
  chunk.size_ = static_cast<uint32_t>(size);
  return chunk;
}

Chunk Chunk::Copy(ByteSpan bytes) {
  if (bytes.empty()) return Chunk();
  Chunk chunk = Allocate(bytes.size());
  std::memcpy(chunk.block_ + 1, bytes.data(), bytes.size());
  return chunk;
}

void Chunk::Free(Block* block) { FreeBlock(block); }

Chunk Chunk::Join(const Chunk& first, const Chunk& second) {
  std::array<uint8_t, 2 * kSmall> bytes;
  uint8_t* end = std::copy_n(first.data(), first.size(), bytes.data());
  end = std::copy_n(second.data(), second.size(), end);
  return Copy({bytes.data(), end});
}

}  // namespace levee
