// SPDX-License-Identifier: Apache-2.0
// How often it is worth to remember a header block.
#pragma once

#include <algorithm>
#include <cstdint>

namespace levee::hpack {

// Blocks that come again are cheaper if they are remembered, but to remember one that never comes
// again is a waste. So the pace halves with each block that is remembered, until one of them comes
// again. One thread.
class LearningPace {
 public:
  // A block came that is remembered.
  void OnKnown() { wait_ = next_wait_ = kFirstWait; }

  // A block came that is not remembered. Returns whether it should be.
  bool OnUnknown() {
    if (wait_-- > 0) return false;
    wait_ = next_wait_;
    next_wait_ = std::min(2 * next_wait_, kLongestWait);
    return true;
  }

 private:
  static constexpr uint32_t kFirstWait = 4;  // A connection with a few calls needs no memory.
  static constexpr uint32_t kLongestWait = 256;

  uint32_t wait_ = kFirstWait;
  uint32_t next_wait_ = kFirstWait;
};

}  // namespace levee::hpack
