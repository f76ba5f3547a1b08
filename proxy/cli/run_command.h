// SPDX-License-Identifier: Apache-2.0
// The command `levee run`: loads the configuration and serves until it is told to stop.
#pragma once

#include <string>

#include "config/load.h"

namespace levee {

// The exit code for wrong usage.
inline constexpr int kWrongUsage = 2;

struct RunOptions {
  ConfigInput config;
  int workers = 1;
  std::string log_level = "info";   // as --log-level takes it
  std::string log_format = "text";  // or "json"
  bool keep_code_pages = false;
};

// Serves until it is told to stop. Returns the exit code.
int RunSidecar(const RunOptions& options);

}  // namespace levee
