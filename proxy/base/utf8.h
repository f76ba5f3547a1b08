// SPDX-License-Identifier: Apache-2.0
// Checks for well-formed UTF-8 (Unicode 15.0, table 3-7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace levee {

// Returns the byte at `i`, which must be within `text`.
inline uint8_t ByteAt(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

// Returns the number of bytes of the well-formed character at the start of `text`, which must not
// be empty. Returns 0 if there is none: a stray or missing continuation byte, an encoding that is
// too long, a surrogate, or a character beyond U+10FFFF.
size_t Utf8CharacterSize(std::string_view text);

// Returns the position of the first byte that belongs to no well-formed character; npos if every
// byte belongs to one.
size_t FindInvalidUtf8(std::string_view text);

// Returns the longest beginning of `text` that has at most `most` bytes and cuts no character in
// two. Bytes that are no UTF-8 are cut anywhere.
std::string_view Utf8Beginning(std::string_view text, size_t most);

}  // namespace levee
