// Reference-counted bytes: how message bodies travel between layers without being copied again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace levee {

using ByteSpan = std::span<const uint8_t>;

// An immutable piece of a body. Copying shares the bytes. The count is not atomic: a chunk and its
// copies belong to one thread. An empty chunk owns nothing.
class Chunk {
 public:
  Chunk() = default;

  // Copies `bytes` into a new block.
  static Chunk Copy(ByteSpan bytes);

  Chunk(const Chunk& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) ++block_->references;
  }
  Chunk(Chunk&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Chunk& operator=(Chunk other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Chunk() {
    if (block_ != nullptr && --block_->references == 0) Free(block_);
  }

  size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const { return size() == 0; }
  const uint8_t* data() const {
    return block_ == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(block_ + 1);
  }
  ByteSpan bytes() const { return {data(), size()}; }

 private:
  // Header of one allocation; the bytes follow it.
  struct Block {
    uint32_t references;
    uint32_t size;
  };
  static void Free(Block* block);

  Block* block_ = nullptr;
};

}  // namespace levee
