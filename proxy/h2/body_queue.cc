// SPDX-License-Identifier: Apache-2.0
#include "h2/body_queue.h"

#include <algorithm>

#include "base/check.h"
#include "h2/output_buffer.h"

namespace levee::h2 {
namespace {

constexpr size_t kSentChunksKept = 64;

}  // namespace

void BodyQueue::MoveTo(OutputBuffer& out, size_t bytes) {
  LEVEE_DCHECK(bytes <= bytes_);
  bytes_ -= bytes;
  while (bytes > 0) {
    Chunk& front = chunks_[front_];
    const size_t size = std::min(bytes, front.size());
    out.Append(front, size);
    bytes -= size;
    front.RemovePrefix(size);
    if (front.empty()) ++front_;
  }
  // Sent chunks are erased in batches, so that a queue that is never quite empty does not grow.
  if (front_ == chunks_.size() || front_ >= kSentChunksKept) {
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<ptrdiff_t>(front_));
    front_ = 0;
  }
}

}  // namespace levee::h2
