// SPDX-License-Identifier: Apache-2.0
#include "h2/stream_pool.h"

#include <utility>

namespace levee::h2 {

Stream* StreamPool::Take() {
  if (free_.empty()) return new Stream;
  Stream* stream = free_.back().release();
  free_.pop_back();
  return stream;
}

void StreamPool::Return(Stream* stream) {
  room_ += stream->grown_by_;
  stream->Recycle();
  std::unique_ptr<Stream> owned(stream);
  if (free_.size() < kKept) free_.push_back(std::move(owned));
}

}  // namespace levee::h2
