// The encoding of grpc-message ("Percent-Encoded" in gRPC over HTTP/2).
#pragma once

#include <string>
#include <string_view>

namespace levee {

// Bytes outside 0x20-0x7E and '%' become %XX.
std::string PercentEncode(std::string_view text);

// Never fails: what is no valid escape stays as it is, as the specification demands.
std::string PercentDecode(std::string_view text);

}  // namespace levee
