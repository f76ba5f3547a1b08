// SPDX-License-Identifier: Apache-2.0
// Remembers how the last streams that a peer opened have ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace levee::h2 {

// When a frame of an ended stream comes, it matters who ended the stream (RFC 9113, section 5.1).
// If the peer did, the frame is a fault of the peer. If this side did, the frame may have been on
// its way already. This class remembers the last 32 streams and knows nothing of older ones. One
// thread.
class ClosedStreams {
 public:
  enum class By { kForgotten, kPeer, kThisSide };

  void Add(uint32_t id, By by) {
    entries_[next_++ % kKept] = id << 1 | (by == By::kPeer ? 1u : 0u);
  }

  By Find(uint32_t id) const {
    for (const uint32_t entry : entries_) {
      if (entry >> 1 == id) return (entry & 1) != 0 ? By::kPeer : By::kThisSide;
    }
    return By::kForgotten;
  }

 private:
  static constexpr size_t kKept = 32;
  std::array<uint32_t, kKept> entries_{};
  uint32_t next_ = 0;
};

}  // namespace levee::h2
