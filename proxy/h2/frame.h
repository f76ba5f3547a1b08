// SPDX-License-Identifier: Apache-2.0
// HTTP/2 frames (RFC 9113, sections 4, 6 and 7): their types, flags, settings and heads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace levee::h2 {

enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9
};

inline constexpr uint8_t kFlagEndStream = 0x1;
inline constexpr uint8_t kFlagAck = 0x1;
inline constexpr uint8_t kFlagEndHeaders = 0x4;
inline constexpr uint8_t kFlagPadded = 0x8;
inline constexpr uint8_t kFlagPriority = 0x20;

enum class Setting : uint16_t {
  kHeaderTableSize = 1,
  kEnablePush = 2,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
  kMaxHeaderListSize = 6,
  kNoRfc7540Priorities = 9  // RFC 9218, section 2.1
};

inline constexpr size_t kFrameHeadBytes = 9;
// Every peer takes a frame of this size. This side sends and takes no larger one.
inline constexpr size_t kMaxFrameBytes = 16 * 1024;
inline constexpr int64_t kInitialWindowBytes = 65'535;
inline constexpr int64_t kMaxWindowBytes = INT32_MAX;
inline constexpr uint32_t kMaxStreamId = INT32_MAX;

struct FrameHead {
  uint32_t length = 0;
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t stream_id = 0;

  bool Is(FrameType wanted) const { return type == static_cast<uint8_t>(wanted); }
  bool Has(uint8_t flag) const { return (flags & flag) != 0; }
};

inline uint32_t ReadUint32(const uint8_t* from) {
  return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

inline uint8_t* PutUint32(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 24);
  to[1] = static_cast<uint8_t>(value >> 16);
  to[2] = static_cast<uint8_t>(value >> 8);
  to[3] = static_cast<uint8_t>(value);
  return to + 4;
}

inline FrameHead ReadFrameHead(const uint8_t* from) {
  return {.length = ReadUint32(from) >> 8,
          .type = from[3],
          .flags = from[4],
          .stream_id = ReadUint32(from + 5) & kMaxStreamId};
}

// Writes a frame's head to `to`. Returns the address behind it, where the payload goes.
inline uint8_t* PutFrameHead(uint8_t* to, size_t length, FrameType type, uint8_t flags,
                             uint32_t stream_id) {
  PutUint32(to, static_cast<uint32_t>(length) << 8 | static_cast<uint8_t>(type));
  to[4] = flags;
  return PutUint32(to + 5, stream_id);
}

}  // namespace levee::h2
