// SPDX-License-Identifier: Apache-2.0
// Text as JSON has it (RFC 8259).
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Appends `text` as a string in quotes. Each byte that is not part of a UTF-8 character becomes
// U+FFFD, so the result is always UTF-8.
void AppendJsonString(std::string_view text, std::string& to);

}  // namespace levee
