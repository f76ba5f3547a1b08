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

  // Whether two neighbours are so small that they are better one; then Join makes it.
  static bool AreSmall(const Chunk& first, const Chunk& second) {
    return first.size() < kSmall && second.size() < kSmall;
  }
  static Chunk Join(const Chunk& first, const Chunk& second);

  size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const { return size() == 0; }
  const uint8_t* data() const {
    return block_ == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(block_ + 1);
  }
  ByteSpan bytes() const { return {data(), size()}; }

 private:
  static constexpr size_t kSmall = 1024;

  // Header of one allocation; the bytes follow it.
  struct Block {
    uint32_t references;
    uint32_t size;
  };
  static void Free(Block* block);

  Block* block_ = nullptr;
};

// Appends a chunk to a list of them. Small neighbours are joined: a peer that sends single bytes
// would otherwise make the list take a hundred times what it holds. The list's other chunks stay as
// they are, and with `keep_last` the last one too (part of it has been used already).
template <typename List>
void AppendChunk(List& list, const Chunk& chunk, bool keep_last = false) {
  if (chunk.empty()) return;
  if (!list.empty() && !keep_last && Chunk::AreSmall(list.back(), chunk)) {
    list.back() = Chunk::Join(list.back(), chunk);
  } else {
    list.push_back(chunk);
  }
}

}  // namespace levee
