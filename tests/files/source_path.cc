// SPDX-License-Identifier: Apache-2.0
#include "files/source_path.h"

namespace levee {

std::string SourcePath(std::string_view path) {
  return std::string(LEVEE_SOURCE_DIR "/").append(path);
}

}  // namespace levee
