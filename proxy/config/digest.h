// SPDX-License-Identifier: Apache-2.0
// The hash by which configurations are told apart.
#pragma once

#include <string>

namespace levee {

// Returns the SHA-256 of the bytes in hexadecimal digits.
std::string HexSha256(const std::string& bytes);

}  // namespace levee
