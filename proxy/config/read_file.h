// Files that a configuration consists of or names.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace levee {

// The content of the file `name`. Errors are OutOfRange if it has more than `max_bytes`, which are
// not read on (device files never end), and otherwise the system's reason: "No such file or
// directory".
absl::StatusOr<std::string> ReadFile(const std::string& name, size_t max_bytes);

// `path` as the configuration file `config_file` means it, relative to that file's directory, as an
// absolute path that means the same everywhere.
std::string PathBeside(const std::string& config_file, const std::string& path);

}  // namespace levee
