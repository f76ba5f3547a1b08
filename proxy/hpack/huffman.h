// SPDX-License-Identifier: Apache-2.0
// Decodes strings in HPACK's Huffman code (RFC 7541, section 5.2 and appendix B). There is no
// encoder, since Levee sends no such strings.
#pragma once

#include <cstddef>

#include "base/chunk.h"

namespace levee::hpack {

// Returns the size of the longest string that so many encoded bytes can be. The shortest code has
// five bits.
constexpr size_t HuffmanBound(size_t encoded_bytes) { return encoded_bytes * 8 / 5; }

// Writes the decoded string to `out`, which must have room for HuffmanBound(encoded.size()), and
// returns the string's end. nullptr: `encoded` has the end-of-string symbol, or its padding is
// longer than seven bits or has a 0 bit.
char* HuffmanDecode(ByteSpan encoded, char* out);

}  // namespace levee::hpack
