// SPDX-License-Identifier: Apache-2.0
// The encoding of grpc-message ("Percent-Encoded" in gRPC over HTTP/2).
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Encodes bytes outside 0x20-0x7E, and '%', as %XX.
std::string PercentEncode(std::string_view text);

// Decodes %XX. Never fails: as the specification demands, anything that is not a valid escape stays
// as it is.
std::string PercentDecode(std::string_view text);

}  // namespace levee
