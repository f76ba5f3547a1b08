// SPDX-License-Identifier: Apache-2.0
// Converts the standard's string views to Abseil's, which Debian builds as a type of its own.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace levee {

// Returns a view of the same characters, for Abseil's functions.
inline absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace levee
