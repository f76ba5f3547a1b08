// SPDX-License-Identifier: Apache-2.0
// Reference-counted bytes: message bodies travel between layers in them without being copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace levee {

using ByteSpan = std::span<const uint8_t>;

// An immutable piece of a body. Copies and slices share the bytes. The count is not atomic: a chunk
// and its copies belong to one thread. An empty chunk owns nothing.
class Chunk {
 public:
  Chunk() = default;

  // Copies `bytes` into a new block.
  static Chunk Copy(ByteSpan bytes);

  Chunk(const Chunk& other) noexcept
      : block_(other.block_), offset_(other.offset_), size_(other.size_) {
    if (block_ != nullptr) ++block_->references;
  }
  Chunk(Chunk&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        offset_(other.offset_),
        size_(std::exchange(other.size_, 0)) {}
  Chunk& operator=(Chunk other) noexcept {
    std::swap(block_, other.block_);
    std::swap(offset_, other.offset_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Chunk() {
    if (block_ != nullptr && --block_->references == 0) Free(block_);
  }

  // Whether two neighbouring chunks are so small that one chunk, made by Join, is better.
  static bool AreSmall(const Chunk& first, const Chunk& second) {
    return first.size() < kSmall && second.size() < kSmall;
  }
  static Chunk Join(const Chunk& first, const Chunk& second);

  // Returns `size` bytes from `offset` on, which the chunk must have. The slice keeps the whole
  // block alive.
  Chunk Slice(size_t offset, size_t size) const {
    Chunk slice;
    if (size == 0) return slice;
    slice = *this;
    slice.offset_ += static_cast<uint32_t>(offset);
    slice.size_ = static_cast<uint32_t>(size);
    return slice;
  }

  // Removes the first `size` bytes.
  void RemovePrefix(size_t size) {
    if (size == size_) {
      *this = Chunk();
    } else {
      offset_ += static_cast<uint32_t>(size);
      size_ -= static_cast<uint32_t>(size);
    }
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const uint8_t* data() const {
    return block_ == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(block_ + 1) + offset_;
  }
  ByteSpan bytes() const { return {data(), size_}; }

 private:
  friend class ReadBlocks;

  static constexpr size_t kSmall = 1024;

  // Header of one allocation; the bytes follow it.
  struct alignas(16) Block {
    uint32_t references;
  };
  // Returns a block of `size` bytes that are not written yet.
  static Chunk Allocate(size_t size);
  static void Free(Block* block);

  Block* block_ = nullptr;
  uint32_t offset_ = 0;  // in the block
  uint32_t size_ = 0;
};

// Appends a chunk to a list of them. Small neighbours are joined: a peer that sends single bytes
// would otherwise make the list take a hundred times what it holds. The list's other chunks stay as
// they are.
template <typename List>
void AppendChunk(List& list, const Chunk& chunk) {
  if (chunk.empty()) return;
  if (!list.empty() && Chunk::AreSmall(list.back(), chunk)) {
    list.back() = Chunk::Join(list.back(), chunk);
  } else {
    list.push_back(chunk);
  }
}

}  // namespace levee
