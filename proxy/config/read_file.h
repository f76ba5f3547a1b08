// SPDX-License-Identifier: Apache-2.0
// Reads the files that a configuration consists of or names.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace levee {

// Returns the content of the file `name`. The error is OutOfRange if the file has more than
// `max_bytes`; reading stops there, since device files never end. Any other error has the system's
// reason: "No such file or directory".
absl::StatusOr<std::string> ReadFile(const std::string& name, size_t max_bytes);

// Returns `path`, which the configuration file `config_file` gives relative to its own directory,
// as an absolute path.
std::string PathBeside(const std::string& config_file, const std::string& path);

}  // namespace levee
