// SPDX-License-Identifier: Apache-2.0
// The peer's GOAWAY frames (RFC 9113, section 6.8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "h2/frame.h"
#include "wire/status.h"

namespace levee::h2 {

// Remembers whether the peer takes new streams, and which of them it did not process. One thread.
class PeerGoaway {
 public:
  static constexpr size_t kLeastBytes = 8;
  static constexpr size_t kMostText = 128;

  // Takes the payload of a GOAWAY frame, of at least kLeastBytes.
  void Take(ByteSpan payload) {
    const std::string_view text(reinterpret_cast<const char*>(payload.data()) + kLeastBytes,
                                payload.size() - kLeastBytes);
    received_ = true;
    // Of a graceful end's two frames either may have the text.
    if (!text.empty()) text_ = text.substr(0, kMostText);
    last_id_ = std::min(last_id_, ReadUint32(payload.data()) & kMaxStreamId);
    too_many_pings_ = too_many_pings_ || (ReadUint32(payload.data() + 4) == kResetEnhanceYourCalm &&
                                          text == "too_many_pings");
  }

  // Behaves from now on as if a GOAWAY that excludes no stream had come.
  void Assume() { received_ = true; }

  bool received() const { return received_; }

  // Returns what the last GOAWAY with a text said, at most kMostText bytes; may be empty.
  std::string_view text() const { return text_; }

  // Whether the peer does not process a stream of this side with this id. 0 stands for a stream
  // that has no id yet. Its head was not sent, and will not be sent.
  bool Excludes(uint32_t id) const { return received_ && (id == 0 || id > last_id_); }

  // Whether a GOAWAY said that this side sends too many PINGs (gRFC A8).
  bool too_many_pings() const { return too_many_pings_; }

 private:
  bool received_ = false;
  bool too_many_pings_ = false;
  uint32_t last_id_ = kMaxStreamId;
  std::string text_;
};

}  // namespace levee::h2
