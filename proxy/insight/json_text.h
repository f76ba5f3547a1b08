// Text as JSON has it (RFC 8259).
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Appends `text` as a string in quotes. What is not UTF-8 becomes U+FFFD, byte by byte, so that the
// result always is.
void AppendJsonString(std::string_view text, std::string& to);

}  // namespace levee
