// SPDX-License-Identifier: Apache-2.0
#include "wire/percent_encoding.h"

#include <cstddef>

namespace levee {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c <= 0x7e && c != '%'; }

// -1 if `c` is no hexadecimal digit.
int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  size_t size = text.size();
  for (char c : text) size += IsPlain(c) ? 0 : 2;
  std::string encoded;
  encoded.reserve(size);
  for (char c : text) {
    if (IsPlain(c)) {
      encoded.push_back(c);
      continue;
    }
    const unsigned char byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back(kHex[byte >> 4]);
    encoded.push_back(kHex[byte & 15]);
  }
  return encoded;
}

std::string PercentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded.push_back(static_cast<char>(high << 4 | low));
        i += 2;
        continue;
      }
    }
    decoded.push_back(text[i]);
  }
  return decoded;
}

}  // namespace levee
