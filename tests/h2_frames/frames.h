// SPDX-License-Identifier: Apache-2.0
// HTTP/2 frames as values and as bytes, for peers that do what no library does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace levee {

enum class FrameType : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr uint8_t kEndStream = 1;
inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kEndHeaders = 4;
inline constexpr uint8_t kPadded = 8;
inline constexpr uint8_t kPrioritised = 0x20;

// RFC 9113, section 7.
enum class H2Error : uint32_t {
  kNone = 0,
  kProtocol = 1,
  kInternal = 2,
  kFlowControl = 3,
  kStreamClosed = 5,
  kFrameSize = 6,
  kRefusedStream = 7,
  kCancel = 8,
  kCompression = 9,
  kEnhanceYourCalm = 11,
  kInadequateSecurity = 12,
  kHttp11Required = 13,
};

// RFC 9113, section 6.5.2.
enum class SettingId : uint16_t {
  kHeaderTableSize = 1,
  kEnablePush = 2,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
};

struct Frame {
  FrameType type{};
  uint8_t flags = 0;
  int32_t stream = 0;
  std::string payload;

  bool ends_stream() const { return (flags & kEndStream) != 0; }
};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// The values of one name, in their order, joined by ", "; "" if there is none.
std::string Values(const HeaderList& fields, std::string_view name);

// `number` in big-endian order.
std::string Number(uint32_t number, int bytes = 4);

// "GET" of bytes: the big-endian number at `at`.
uint32_t ReadNumber(std::string_view bytes, size_t at = 0);

// The nine bytes before a frame's payload. `stream` may have the reserved bit.
std::string FrameHead(size_t payload_bytes, FrameType type, uint8_t flags, int32_t stream);

// The frame whose head is `head`, without its payload.
Frame ParseFrameHead(std::string_view head);

// One setting of a SETTINGS frame's payload.
std::string Setting(SettingId id, uint32_t value);

// The payload of a frame with kPadded: `data` and `padding` more bytes.
std::string Padded(std::string_view data, uint8_t padding);

// A header block without compression.
std::string Encode(const HeaderList& fields);

}  // namespace levee
