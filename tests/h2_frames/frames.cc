// SPDX-License-Identifier: Apache-2.0
#include "h2_frames/frames.h"

namespace levee {
namespace {

// RFC 7541, section 5.1, with a prefix of 7 bits.
std::string StringLiteral(std::string_view text) {
  std::string literal;
  size_t size = text.size();
  if (size < 127) {
    literal += static_cast<char>(size);
  } else {
    literal += '\x7f';
    for (size -= 127; size >= 128; size /= 128) literal += static_cast<char>(0x80 | (size % 128));
    literal += static_cast<char>(size);
  }
  return literal.append(text);
}

}  // namespace

std::string Values(const HeaderList& fields, std::string_view name) {
  std::string joined;
  for (const auto& [field, value] : fields) {
    if (field == name) joined += (joined.empty() ? "" : ", ") + value;
  }
  return joined;
}

std::string Number(uint32_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text += static_cast<char>(number >> shift);
  }
  return text;
}

uint32_t ReadNumber(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = at; i < at + 4 && i < bytes.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

std::string FrameHead(size_t payload_bytes, FrameType type, uint8_t flags, int32_t stream) {
  std::string head = Number(static_cast<uint32_t>(payload_bytes), 3);
  head += static_cast<char>(type);
  head += static_cast<char>(flags);
  return head + Number(static_cast<uint32_t>(stream));
}

Frame ParseFrameHead(std::string_view head) {
  return {.type = static_cast<FrameType>(head[3]),
          .flags = static_cast<uint8_t>(head[4]),
          .stream = static_cast<int32_t>(ReadNumber(head, 5) & 0x7fffffff)};
}

std::string Setting(SettingId id, uint32_t value) {
  return Number(static_cast<uint32_t>(id), 2) + Number(value);
}

std::string Padded(std::string_view data, uint8_t padding) {
  return static_cast<char>(padding) + std::string(data) + std::string(padding, '\0');
}

std::string Encode(const HeaderList& fields) {
  std::string block;
  // Literals that are not to be indexed (RFC 7541, section 6.2.2).
  for (const auto& [name, value] : fields) {
    block += '\0' + StringLiteral(name) + StringLiteral(value);
  }
  return block;
}

}  // namespace levee
