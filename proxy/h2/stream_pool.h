// SPDX-License-Identifier: Apache-2.0
// A pool of streams that are not in use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "h2/stream.h"

namespace levee::h2 {

// Keeps returned streams together with their memory, so that a new stream need not allocate. Each
// worker has one; it must outlive the worker's sessions. One thread.
class StreamPool {
 public:
  StreamPool() = default;
  // Every stream must have been returned, with the window by which it has grown.
  ~StreamPool() { LEVEE_DCHECK(room_ == whole_room_); }
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // The caller owns the stream until it is returned.
  Stream* Take();
  void Return(Stream* stream);

  // Sets the bytes by which the receive windows of all streams together may be larger than those
  // of new streams. The streams give back what exceeds a smaller number as they move on.
  void SetRoomToGrow(int64_t bytes) {
    room_ += bytes - whole_room_;
    whole_room_ = bytes;
  }

  // The window of a stream is larger by `had` bytes than that of a new one, and should be larger by
  // `wanted`. Returns by how many it may be larger, which from now on counts.
  int64_t Grow(int64_t had, int64_t wanted) {
    room_ += had;
    const int64_t granted = std::clamp<int64_t>(room_, 0, wanted);
    room_ -= granted;
    return granted;
  }

 private:
  static constexpr size_t kKept = 1024;
  std::vector<std::unique_ptr<Stream>> free_;
  int64_t whole_room_ = 0;
  int64_t room_ = 0;  // what is left of it; below 0 after it was made smaller
};

}  // namespace levee::h2
