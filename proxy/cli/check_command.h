// SPDX-License-Identifier: Apache-2.0
// The command `levee check`: all faults and warnings of a configuration at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace levee {

struct CheckOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string output = "text";     // or "json": one document, as docs/checks.md describes it
  bool each = false;               // each file is a configuration of its own
  bool strict = false;             // a warning fails as well
  int64_t memory = 0;              // bytes that the container may have; 0: not known
};

// Checks the files, which `levee run` would merge into one configuration, or each alone. Prints
// every fault and warning on standard output; as text, also a line for each file of a configuration
// that passes, and with `memory` how much of it the limits may take. If a file replaces what an
// earlier one has by the same name, a hint on standard error says so. Returns the exit code.
int RunCheck(const CheckOptions& options);

}  // namespace levee
