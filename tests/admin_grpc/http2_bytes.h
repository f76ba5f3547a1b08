// SPDX-License-Identifier: Apache-2.0
// Frames as bytes, of which nobody looks at the payload.
#pragma once

#include <cstdint>
#include <string>

#include "base/chunk.h"
#include "h2/frame.h"

namespace levee {

inline const std::string kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string Frame(h2::FrameType type, uint8_t flags, uint32_t stream, size_t length) {
  uint8_t head[h2::kFrameHeadBytes];
  h2::PutFrameHead(head, length, type, flags, stream);
  return std::string(reinterpret_cast<const char*>(head), sizeof head) + std::string(length, 'x');
}

// A call that begins, and one that its peer cancels at once.
inline std::string Head(uint32_t stream) {
  return Frame(h2::FrameType::kHeaders, h2::kFlagEndHeaders, stream, 20);
}
inline std::string Cancelled(uint32_t stream) {
  return Head(stream) + Frame(h2::FrameType::kRstStream, 0, stream, 4);
}

inline ByteSpan AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace levee
