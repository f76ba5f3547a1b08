// SPDX-License-Identifier: Apache-2.0
// Parses the headers that a configuration names, and expressions over their values.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace levee {

// As in values.h, errors are half sentences that follow a field's path and a colon.

// Longer names are refused: no header has such a name, and every call would carry it.
inline constexpr size_t kMaxHeaderName = 128;

// Returns a field name (RFC 9110, section 5.1) in lower case. Pseudo-headers are refused.
absl::StatusOr<std::string> ParseHeaderName(const std::string& text);

// The same for a header that Levee may add to calls. A header that already means something to HTTP,
// gRPC or Levee is refused, and so is one with binary values.
absl::StatusOr<std::string> ParseAddedHeader(const std::string& text);

// Returns "header:NAME" with the name in lower case.
absl::StatusOr<std::string> ParseHeaderKey(const std::string& text);

// Returns a regular expression over a header's value (CompileHeaderRegex) as it is.
absl::StatusOr<std::string> ParseHeaderRegex(const std::string& text);

}  // namespace levee
