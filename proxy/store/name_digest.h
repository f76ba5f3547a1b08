// SPDX-License-Identifier: Apache-2.0
// What stands in the name of a key in Redis for a text that is long, or is nobody's business.
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Returns the SHA-256 digest of `text` in lower-case hexadecimal digits.
std::string NameDigest(std::string_view text);

}  // namespace levee
