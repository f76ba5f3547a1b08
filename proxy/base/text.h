// Between the standard's string views and Abseil's, which Debian builds as a type of its own.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace levee {

// The same characters, for Abseil's functions.
inline absl::string_view Abseil(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace levee
