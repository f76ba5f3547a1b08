// SPDX-License-Identifier: Apache-2.0
// Streams that are not in use.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "h2/stream.h"

namespace levee::h2 {

// Keeps streams with the memory that they have, so that a new one need not allocate. One per
// worker; must outlive its sessions. One thread.
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
