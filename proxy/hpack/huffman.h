// SPDX-License-Identifier: Apache-2.0
// Decodes strings in HPACK's Huffman code (RFC 7541, section 5.2 and appendix B). There is no
// encoder, since Levee sends no such strings.
#pragma once

#include <cstddef>

#include "base/chunk.h"

namespace levee::hpack {

// The longest string that so many encoded bytes can be: the shortest code has five bits.
constexpr size_t HuffmanBound(size_t encoded_bytes) { return encoded_bytes * 8 / 5; }

// Writes the decoded string to `out`, which has room for HuffmanBound(encoded.size()), and returns
// its end. nullptr: the code has the end-of-string symbol, or a padding that is longer than seven
// bits or not of ones.
char* HuffmanDecode(ByteSpan encoded, char* out);

}  // namespace levee::hpack
