// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace levee {
size_t Utf8CharacterSize(std::string_view text) {
  const uint8_t lead = ByteAt(text, 0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < size) return 0;
  // The second byte tells an encoding that is too long, a surrogate, or a character beyond
  // U+10FFFF.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (ByteAt(text, 1) < low || ByteAt(text, 1) > high) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((ByteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

size_t FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = Utf8CharacterSize(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

std::string_view Utf8Beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t kLongestCharacter = 4;
  for (size_t start = most; start > 0 && most - start < kLongestCharacter;) {
    const size_t size = Utf8CharacterSize(text.substr(--start));
    if (size > 0) return text.substr(0, start + size <= most ? most : start);
  }
  return text.substr(0, most);
}

}  // namespace levee
