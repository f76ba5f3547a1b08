// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace levee {
namespace {

// The bytes that stand for themselves in a string.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

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
    if (size == 0 && ByteAt(text, 0) >= 0x80) size = Utf8CharacterSize(text);
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
