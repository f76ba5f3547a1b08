// SPDX-License-Identifier: Apache-2.0
// The calls of a connection, by the HTTP/2 frames that pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/chunk.h"

namespace levee {

// Knows how many calls of a connection the gRPC library may have. A call that has ended without an
// answer is one of them still: its peer has cancelled it, or made the library reset it, while it
// waits to be served.
class CallCount {
 public:
  // Calls that may be open at once. The library tells peers so, and they need not listen.
  static constexpr size_t kMostOpen = 32;

  // PINGs and SETTINGS that the library has not answered. It keeps more for each than its bytes.
  static constexpr size_t kMostUnanswered = 8;

  // Returns how many of `bytes`, the next that the peer sends, may pass to the library. It stops
  // before the first frame whose head has not come, before one that begins a call where kMostOpen
  // are open or `room` calls have begun, and before a PING or SETTINGS where kMostUnanswered are.
  // The caller gives the rest again.
  size_t Pass(ByteSpan bytes, size_t room);

  // Sees the next bytes that the library sends.
  void Answered(ByteSpan bytes);

  // Forgets one of the calls that have ended without an answer.
  void ForgetEnded() {
    if (ended_ > 0) --ended_;
  }

  size_t calls() const { return open_.size() + ended_; }
  size_t ended() const { return ended_; }

  // Whether the last Pass has stopped for want of room, and of nothing else.
  bool wants_room() const { return wants_room_; }

  // Whether the peer's first bytes are not those of HTTP/2.
  bool is_other_protocol() const { return is_other_protocol_; }

 private:
  size_t PassPreface(ByteSpan bytes);
  bool MayPass(const uint8_t* head, size_t& room);
  void SeeAnswer(const uint8_t* head);
  void End(uint32_t stream);

  size_t preface_ = 0;             // bytes of it that have come
  size_t payload_ = 0;             // bytes that are to come of the peer's frame
  uint32_t last_stream_ = 0;       // that the peer has begun
  std::map<uint32_t, bool> open_;  // by stream; whether the answer has begun
  size_t ended_ = 0;               // without an answer
  size_t unanswered_ = 0;
  bool wants_room_ = false;
  bool is_other_protocol_ = false;

  uint8_t answer_head_[9] = {};  // of the library's frame, as far as it has come
  size_t answer_head_bytes_ = 0;
  size_t answer_payload_ = 0;
};

}  // namespace levee
