// SPDX-License-Identifier: Apache-2.0
#include "call/replay_buffer.h"

namespace levee {

ReplayBuffer::Kept ReplayBuffer::Add(const Chunk& chunk) {
  if (chunk.empty()) return Kept::kYes;
  if (bytes_ + chunk.size() > limit_) return Kept::kOverLimit;
  const auto held = static_cast<int64_t>(bytes_);
  if (!lease_.Take(sender_, held, static_cast<int64_t>(chunk.size()))) return Kept::kNoMemory;
  bytes_ += chunk.size();
  AppendChunk(chunks_, chunk);
  return Kept::kYes;
}

void ReplayBuffer::Clear() {
  if (bytes_ > 0) lease_.Give(sender_, static_cast<int64_t>(bytes_));
  bytes_ = pending_ = 0;
  chunks_.clear();
}

}  // namespace levee
