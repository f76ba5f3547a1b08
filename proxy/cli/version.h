// SPDX-License-Identifier: Apache-2.0
// The version of this build.
#pragma once

#include <string>
#include <string_view>

namespace levee {

std::string_view BuildVersion();  // "0.1.0"
std::string_view BuildCommit();   // abbreviated hash, or "unknown"

// Returns several lines: version, commit, and the versions of the libraries in use.
std::string VersionText();

}  // namespace levee
