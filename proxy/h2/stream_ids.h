// SPDX-License-Identifier: Apache-2.0
// The ids of a session's streams.
#pragma once

#include <cstdint>

#include "h2/frame.h"

namespace levee::h2 {

// Only clients open streams, with odd ids that go up (RFC 9113, section 5.1.1). So one number tells
// which ids are used, in both roles. One thread.
class StreamIds {
 public:
  // Whether no stream has begun with this id, or with a higher one.
  bool IsIdle(uint32_t id) const { return id % 2 == 0 || id >= next_; }

  // The least id that is not used yet.
  uint32_t next() const { return next_; }

  // How many ids are not used yet, and whether none is left.
  int64_t left() const { return (int64_t{kMaxStreamId} - next_) / 2 + 1; }
  bool used_up() const { return next_ > kMaxStreamId; }

  // A stream with this odd id, which is idle, has begun. Lower ids are used up with it.
  void Use(uint32_t id) { next_ = id + 2; }

  // Server role: the highest id of a request that was handed on; 0: there was none.
  uint32_t processed() const { return processed_; }
  void OnProcessed(uint32_t id) { processed_ = id; }

 private:
  uint32_t next_ = 1;
  uint32_t processed_ = 0;
};

}  // namespace levee::h2
