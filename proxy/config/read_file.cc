// SPDX-License-Identifier: Apache-2.0
#include "config/read_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/status/status.h"

namespace levee {

absl::StatusOr<std::string> ReadFile(const std::string& name, size_t max_bytes) {
  constexpr size_t kPiece = 64 * 1024;
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::string text;
  while (file && text.size() <= max_bytes) {
    const size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, static_cast<std::streamsize>(kPiece));
    text.resize(before + static_cast<size_t>(file.gcount()));
  }
  if (text.size() > max_bytes) return absl::OutOfRangeError("too large");
  if (file.bad() || !file.eof()) {
    return absl::UnavailableError(std::generic_category().message(errno));
  }
  return text;
}

std::string PathBeside(const std::string& config_file, const std::string& path) {
  const std::filesystem::path named = std::filesystem::path(config_file).parent_path() / path;
  std::error_code unknown;  // if there is no working directory
  const std::filesystem::path whole = std::filesystem::absolute(named, unknown);
  std::filesystem::path plain;
  for (const std::filesystem::path& part : unknown ? named : whole) {
    if (part != ".") plain /= part;
  }
  return plain.string();
}

}  // namespace levee
