// SPDX-License-Identifier: Apache-2.0
// The hash by which configurations are told apart, and under which Redis keeps texts that are long
// or are nobody's business.
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Returns the SHA-256 (FIPS 180-4) of the bytes in lower-case hexadecimal digits.
std::string HexSha256(std::string_view bytes);

}  // namespace levee
