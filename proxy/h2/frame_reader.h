// SPDX-License-Identifier: Apache-2.0
// Splits a connection's bytes into frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/chunk.h"
#include "h2/frame.h"

namespace levee::h2 {

// Hands on the bytes of bodies as they come, and every other frame when it is whole. Holds memory
// for at most one frame, and frees it after the frame. One thread.
class FrameReader {
 public:
  enum class Event {
    kNeedMore,  // all bytes are taken
    kFrame,     // head() and payload(), padding included
    kData,      // head(), and in payload() the next piece of the body, without padding
    kTooLong,   // a frame above kMaxFrameBytes; the rest cannot be read
    kBadPadding
  };

  // Takes bytes from the front of `bytes` up to the next event. payload() is valid until the next
  // call, and while `bytes` are.
  Event Next(ByteSpan& bytes);

  // After kNeedMore: the memory that is held for a frame that is not whole.
  size_t held_bytes() const { return gathered_.capacity(); }

  const FrameHead& head() const { return head_; }
  ByteSpan payload() const { return payload_; }

  // After kData: whether payload() is the first piece of its frame; whether it is the last one; and
  // how many bytes the frame's padding takes, which count for flow control (RFC 9113, section 6.1).
  bool first_piece() const { return first_piece_; }
  bool last_piece() const { return state_ == State::kHead; }
  size_t padding_bytes() const { return padding_bytes_; }

 private:
  enum class State { kHead, kPayload, kPadLength, kBody };

  bool TakeHead(ByteSpan& bytes);
  Event TakePayload(ByteSpan& bytes);
  Event TakeBody(ByteSpan& bytes);

  State state_ = State::kHead;
  FrameHead head_;
  ByteSpan payload_;
  uint8_t head_bytes_[kFrameHeadBytes];
  uint8_t head_size_ = 0;  // of head_bytes_
  bool first_piece_ = false;
  bool piece_seen_ = false;
  std::vector<uint8_t> gathered_;  // a payload that came in pieces
  size_t body_left_ = 0;
  size_t padding_left_ = 0;
  size_t padding_bytes_ = 0;
};

}  // namespace levee::h2
