// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace levee {

bool WriteOutput(const char* command, const std::string& path, const std::string& text) {
  FILE* const file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (!written) {
    std::fprintf(stderr, "%s: %s cannot be written: %s\n", command, path.c_str(),
                 std::strerror(errno));
  }
  return written;
}

}  // namespace levee
