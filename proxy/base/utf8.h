// UTF-8 as it must be (Unicode 15.0, table 3-7).
#pragma once

#include <cstddef>
#include <string_view>

namespace levee {

// The bytes of the well-formed character that `text`, which is not empty, begins with; 0 if it
// begins with none: a stray or missing continuation, an encoding that is too long, a surrogate, or
// what lies beyond U+10FFFF.
size_t Utf8CharacterSize(std::string_view text);

// Where the first byte is that belongs to no well-formed character; npos if there is none.
size_t FindInvalidUtf8(std::string_view text);

}  // namespace levee
