// SPDX-License-Identifier: Apache-2.0
// Files of the project that a test reads.
#pragma once

#include <string>
#include <string_view>

namespace levee {

// The path of a file or folder of the project, which is given from the top of the sources.
std::string SourcePath(std::string_view path);

}  // namespace levee
