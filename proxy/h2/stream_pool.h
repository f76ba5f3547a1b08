// SPDX-License-Identifier: Apache-2.0
// A pool of streams that are not in use.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "h2/stream.h"

namespace levee::h2 {

// Keeps returned streams together with their memory, so that a new stream need not allocate. Each
// worker has one; it must outlive the worker's sessions. One thread.
class StreamPool {
 public:
  StreamPool() = default;
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  // The caller owns the stream until it is returned.
  Stream* Take();
  void Return(Stream* stream);

 private:
  static constexpr size_t kKept = 1024;
  std::vector<std::unique_ptr<Stream>> free_;
};

}  // namespace levee::h2
