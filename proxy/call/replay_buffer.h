// SPDX-License-Identifier: Apache-2.0
// The request of one call, kept until no further attempt can need it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/chunk.h"
#include "call/replay_memory.h"

namespace levee {

// Holds the bytes in order, small chunks joined to larger ones. Memory that counts as replay memory
// is leased; one thread.
class ReplayBuffer {
 public:
  // `limit`: bytes that one call may keep (`retry.buffer`). `lease` must outlive the buffer.
  // `sender`: who its caller is.
  ReplayBuffer(size_t limit, ReplayLease& lease, uint64_t sender)
      : limit_(limit), lease_(lease), sender_(sender) {}
  ~ReplayBuffer() { Clear(); }
  ReplayBuffer(const ReplayBuffer&) = delete;
  ReplayBuffer& operator=(const ReplayBuffer&) = delete;

  enum class Kept { kYes, kOverLimit, kNoMemory };

  // Keeps the chunk if the call's limit and its share of the memory of all calls allow it.
  Kept Add(const Chunk& chunk);

  // Keeps it in any case, uncounted: what waits for the one attempt that will forward it. The
  // caller's flow-control window bounds it, since these bytes are not credited.
  void AddPending(const Chunk& chunk) {
    AppendChunk(chunks_, chunk);
    pending_ += chunk.size();
  }

  void Clear();

  const absl::InlinedVector<Chunk, 2>& chunks() const { return chunks_; }
  size_t pending_bytes() const { return pending_; }  // of AddPending
  // All that it holds, pending bytes included.
  size_t held_bytes() const { return bytes_ + pending_; }

 private:
  const size_t limit_;
  ReplayLease& lease_;
  const uint64_t sender_;
  size_t bytes_ = 0;    // leased
  size_t pending_ = 0;  // not leased
  absl::InlinedVector<Chunk, 2> chunks_;
};

}  // namespace levee
