// Names of headers, as a configuration gives them.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace levee {

// As in values.h, errors are half sentences that a field's path and a colon precede.

// Longer names are refused: nobody has one, and every call would carry it.
inline constexpr size_t kMaxHeaderName = 128;

// A field name (RFC 9110, section 5.1) in lower case. Pseudo-headers are refused.
absl::StatusOr<std::string> ParseHeaderName(const std::string& text);

// The same of a header that Levee may add to calls: none that means something to HTTP, gRPC or
// Levee already, and none whose values are binary.
absl::StatusOr<std::string> ParseAddedHeader(const std::string& text);

}  // namespace levee
