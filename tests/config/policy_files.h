// SPDX-License-Identifier: Apache-2.0
// The files of the repository that a sidecar takes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "files/source_path.h"

namespace levee {

// The default file, and the examples.
inline std::vector<std::string> PolicyFiles() {
  std::vector<std::string> files = {SourcePath("config/levee.yaml")};
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("config/examples"))) {
    files.push_back(entry.path().string());
  }
  return files;
}

}  // namespace levee
