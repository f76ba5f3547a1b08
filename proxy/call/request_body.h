// SPDX-License-Identifier: Apache-2.0
// The request of one call as far as it has come: what is kept of it, and whether it is complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/chunk.h"
#include "call/replay_buffer.h"
#include "call/replay_memory.h"

namespace levee {

// Tells nobody anything; the parts of the call read it. One thread.
class RequestBody {
 public:
  // As for the ReplayBuffer.
  RequestBody(size_t limit, ReplayLease& lease, uint64_t sender) : buffer_(limit, lease, sender) {}

  // Whether all of it has come.
  bool half_closed() const { return half_closed_; }

  // Whether all that has come is kept, so that any number of attempts can carry it.
  bool replayable() const { return replayable_; }

  // The caller has half-closed.
  void HalfClose() { half_closed_ = true; }

  // Keeps the next piece of a request that is replayable. Once one is not kept, the request is not
  // replayable any more.
  ReplayBuffer::Kept Keep(const Chunk& chunk) {
    const ReplayBuffer::Kept kept = buffer_.Add(chunk);
    replayable_ = kept == ReplayBuffer::Kept::kYes;
    return kept;
  }

  // Keeps the next piece of another request, for the one attempt that will carry it all.
  void AddPending(const Chunk& chunk) { buffer_.AddPending(chunk); }

  // Keeps nothing of what has come.
  void Clear() { buffer_.Clear(); }

  const absl::InlinedVector<Chunk, 2>& chunks() const { return buffer_.chunks(); }
  size_t pending_bytes() const { return buffer_.pending_bytes(); }
  size_t held_bytes() const { return buffer_.held_bytes(); }

 private:
  ReplayBuffer buffer_;
  bool half_closed_ = false;
  bool replayable_ = true;
};

}  // namespace levee
