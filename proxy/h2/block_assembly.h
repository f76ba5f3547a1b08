// SPDX-License-Identifier: Apache-2.0
// Puts header blocks together from HEADERS and CONTINUATION frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/chunk.h"
#include "h2/frame.h"

namespace levee::h2 {

// Puts one header block at a time together (RFC 9113, sections 6.2 and 6.10). It holds memory only
// for a block that comes in several frames, until Clear. One thread.
class BlockAssembly {
 public:
  enum class Result {
    kWhole,       // block() is complete
    kMore,        // CONTINUATION of the same stream must follow
    kTooShort,    // less payload than the frame's flags promise
    kBadPadding,  // more padding than payload
    kTooLong      // more than `max_bytes`
  };

  // `max_bytes`: the largest size of one block as it is on the wire.
  explicit BlockAssembly(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Takes a HEADERS frame. No block may have begun without being whole.
  Result TakeHeaders(const FrameHead& head, ByteSpan payload) {
    if (head.Has(kFlagPadded | kFlagPriority)) {
      const Result cut = CutToFragment(head, payload);
      if (cut != Result::kWhole) return cut;
    }
    if (payload.size() > max_bytes_) return Result::kTooLong;
    ends_stream_ = head.Has(kFlagEndStream);
    if (!head.Has(kFlagEndHeaders)) return Begin(head, payload);
    block_ = payload;
    return Result::kWhole;
  }

  // Takes a CONTINUATION frame of the open block.
  Result TakeContinuation(const FrameHead& head, ByteSpan payload);

  // The stream whose block has begun and is not whole; 0 for none.
  uint32_t open_stream() const { return open_stream_; }

  // The memory that is held for a block that came in several frames.
  size_t held_bytes() const { return gathered_.capacity(); }

  // After kWhole: the block. If it came in one HEADERS frame, it is a part of that frame's payload;
  // otherwise it is valid until Clear.
  ByteSpan block() const { return block_; }
  // After kWhole: the HEADERS frame had END_STREAM.
  bool ends_stream() const { return ends_stream_; }

  // Frees the memory of a block that came in several frames.
  void Clear();

 private:
  // Cuts padding and priority off the payload of HEADERS.
  static Result CutToFragment(const FrameHead& head, ByteSpan& payload);
  Result Begin(const FrameHead& head, ByteSpan fragment);

  const size_t max_bytes_;
  std::vector<uint8_t> gathered_;
  size_t wire_bytes_ = 0;
  ByteSpan block_;
  uint32_t open_stream_ = 0;
  bool ends_stream_ = false;
};

}  // namespace levee::h2
