#include "call/replay_buffer.h"

#include <algorithm>
#include <array>

namespace levee {
namespace {

// Two neighbours below this are joined. A caller that sends single bytes would otherwise make the
// buffer take many times what it counts.
constexpr size_t kSmallChunk = 1024;

Chunk Join(const Chunk& first, const Chunk& second) {
  std::array<uint8_t, 2 * kSmallChunk> bytes;
  uint8_t* end = std::copy_n(first.data(), first.size(), bytes.data());
  end = std::copy_n(second.data(), second.size(), end);
  return Chunk::Copy({bytes.data(), end});
}

}  // namespace

ReplayBuffer::Kept ReplayBuffer::Add(const Chunk& chunk) {
  if (chunk.empty()) return Kept::kYes;
  if (bytes_ + chunk.size() > limit_) return Kept::kOverLimit;
  if (!lease_.Take(static_cast<int64_t>(chunk.size()))) return Kept::kNoMemory;
  bytes_ += chunk.size();
  Append(chunk);
  return Kept::kYes;
}

void ReplayBuffer::Append(const Chunk& chunk) {
  if (chunk.empty()) return;
  if (!chunks_.empty() && chunk.size() < kSmallChunk && chunks_.back().size() < kSmallChunk) {
    chunks_.back() = Join(chunks_.back(), chunk);
  } else {
    chunks_.push_back(chunk);
  }
}

void ReplayBuffer::Clear() {
  if (bytes_ > 0) lease_.Give(static_cast<int64_t>(bytes_));
  bytes_ = 0;
  chunks_.clear();
}

}  // namespace levee
