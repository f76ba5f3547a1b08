#include "telemetry/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace levee {
namespace {

// What stands for itself.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

uint8_t ByteAt(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

// The bytes of the well-formed sequence of two or more that `text` begins with (Unicode 15.0, table
// 3-7); 0 if it begins otherwise.
size_t SequenceSize(std::string_view text) {
  const uint8_t lead = ByteAt(text, 0);
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < size) return 0;
  // What would be too long for its character, a surrogate, or beyond U+10FFFF shows in the second
  // byte.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (ByteAt(text, 1) < low || ByteAt(text, 1) > high) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((ByteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

void AppendEscape(char c, std::string& to) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      to += {'\\', c};
      break;
    case '\n':
      to += "\\n";
      break;
    case '\r':
      to += "\\r";
      break;
    case '\t':
      to += "\\t";
      break;
    default:
      to += "\\u00";
      to += {kHex[static_cast<uint8_t>(c) >> 4], kHex[c & 0xf]};
      break;
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& to) {
  to += '"';
  while (!text.empty()) {
    size_t size = 0;
    while (size < text.size() && kPlain[ByteAt(text, size)]) ++size;
    if (size == 0 && ByteAt(text, 0) >= 0x80) size = SequenceSize(text);
    if (size > 0) {
      to += text.substr(0, size);
    } else {
      if (ByteAt(text, 0) < 0x80) {
        AppendEscape(text[0], to);
      } else {
        to += "\xef\xbf\xbd";  // U+FFFD
      }
      size = 1;
    }
    text.remove_prefix(size);
  }
  to += '"';
}

}  // namespace levee
