// SPDX-License-Identifier: Apache-2.0
// The body bytes of a stream that wait to be sent.
#pragma once

#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "base/chunk.h"

namespace levee::h2 {

class OutputBuffer;

// A queue of chunks, which are not copied. One thread.
class BodyQueue {
 public:
  // Appends `data`, which is not empty.
  void Append(const Chunk& data) {
    AppendChunk(chunks_, data);
    bytes_ += data.size();
  }

  // Moves the first `bytes` to `out`; so many are queued.
  void MoveTo(OutputBuffer& out, size_t bytes);

  size_t bytes() const { return bytes_; }

  void Clear() {
    chunks_.clear();
    front_ = bytes_ = 0;
  }

 private:
  absl::InlinedVector<Chunk, 2> chunks_;
  size_t front_ = 0;  // index of the first chunk that is not all sent
  size_t bytes_ = 0;
};

}  // namespace levee::h2
