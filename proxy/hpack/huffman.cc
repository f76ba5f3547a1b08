// SPDX-License-Identifier: Apache-2.0
#include "hpack/huffman.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace levee::hpack {
namespace {

constexpr size_t kSymbols = 257;
constexpr size_t kEndOfString = 256;
constexpr int kShortBits = 8;
constexpr int kLongestCode = 30;

// The number of bits of each symbol's code, from appendix B. The code is canonical: codes of one
// length grow with their symbols, and longer codes are larger than shorter ones, compared from the
// first bit on. So the lengths determine all codes.
constexpr std::array<uint8_t, kSymbols> kLengths = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,      // 0x00
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,      // 0x10
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,       // 0x20
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,      // 0x30
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,       // 0x40
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,       // 0x50
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,       // 0x60
    6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,      // 0x70
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,      // 0x80
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,      // 0x90
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,      // 0xa0
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,      // 0xb0
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,      // 0xc0
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,      // 0xd0
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,      // 0xe0
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,  // 0xf0, end of string
};

// Codes of up to eight bits, which nearly all text has, are found by the next eight bits of the
// string. A longer code is found by its length: the least one whose last code is not below the next
// bits.
struct Code {
  struct Short {
    uint8_t symbol = 0;
    uint8_t length = 0;  // 0: longer than eight bits
  };
  std::array<Short, 1 << kShortBits> by_prefix{};
  std::array<uint16_t, kSymbols> symbols{};  // in the order of their codes
  // These three have an element for each length. A code is held as the upper bits of 32.
  std::array<uint64_t, kLongestCode + 1> end{};    // one past the last code of that length
  std::array<uint32_t, kLongestCode + 1> begin{};  // the first code of that length
  std::array<uint16_t, kLongestCode + 1> first{};  // its place in `symbols`
};

constexpr Code MakeCode() {
  Code code;
  uint64_t next = 0;  // as the upper bits of 32
  uint16_t place = 0;
  for (int length = 1; length <= kLongestCode; ++length) {
    code.begin[length] = static_cast<uint32_t>(next);
    code.first[length] = place;
    for (uint16_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (kLengths[symbol] != length) continue;
      code.symbols[place++] = symbol;
      const uint64_t after = next + (uint64_t{1} << (32 - length));
      if (length <= kShortBits) {
        for (uint64_t prefix = next >> 24; prefix < after >> 24; ++prefix) {
          code.by_prefix[prefix] = {static_cast<uint8_t>(symbol), static_cast<uint8_t>(length)};
        }
      }
      next = after;
    }
    code.end[length] = next;
  }
  return code;
}

constexpr Code kCode = MakeCode();
static_assert(kCode.end[kLongestCode] == uint64_t{1} << 32, "the code uses up all bit strings");

// Reads the bits of a string. The next ones are the highest of `bits`; zeros follow the last one.
struct BitReader {
  const uint8_t* next;
  const uint8_t* end;
  uint64_t bits = 0;
  int count = 0;

  // Reads bytes until there are at least 57 bits, or the string ends.
  void Fill() {
    while (count <= 56 && next != end) {
      bits |= uint64_t{*next++} << (56 - count);
      count += 8;
    }
  }
  void Skip(int length) {
    bits <<= length;
    count -= length;
  }
};

// Returns the length of the code at the front of `bits`, which must be longer than eight bits.
int LongLength(uint32_t bits) {
  int length = kShortBits + 1;
  while (bits >= kCode.end[length]) ++length;
  return length;
}

}  // namespace

char* HuffmanDecode(ByteSpan encoded, char* out) {
  BitReader in{encoded.data(), encoded.data() + encoded.size()};
  while (true) {
    if (in.count < kLongestCode) in.Fill();
    const Code::Short code = kCode.by_prefix[in.bits >> 56];
    if (code.length != 0) {
      if (code.length > in.count) break;
      *out++ = static_cast<char>(code.symbol);
      in.Skip(code.length);
      continue;
    }
    const auto bits = static_cast<uint32_t>(in.bits >> 32);
    const int length = LongLength(bits);
    if (length > in.count) break;
    const uint32_t place = (bits - kCode.begin[length]) >> (32 - length);
    const uint16_t symbol = kCode.symbols[kCode.first[length] + place];
    if (symbol == kEndOfString) return nullptr;
    *out++ = static_cast<char>(symbol);
    in.Skip(length);
  }
  if (in.count == 0) return out;
  const bool all_ones = ~in.bits >> (64 - in.count) == 0;
  return in.count <= 7 && all_ones ? out : nullptr;
}

}  // namespace levee::hpack
