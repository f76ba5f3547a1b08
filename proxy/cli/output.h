// SPDX-License-Identifier: Apache-2.0
// Writes the files that are named on the command line.
#pragma once

#include <string>

namespace levee {

// Returns false, with the reason on standard error, if the file cannot be written. `command`: who
// says so.
bool WriteOutput(const char* command, const std::string& path, const std::string& text);

}  // namespace levee
