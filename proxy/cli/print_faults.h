// SPDX-License-Identifier: Apache-2.0
// Prints the faults of the files that are named on the command line.
#pragma once

#include <cstdio>
#include <vector>

#include "config/fault.h"

namespace levee {

// Prints the faults on standard error, and returns the exit code of a command that ends with them.
inline int PrintFaults(const std::vector<Fault>& faults) {
  std::fprintf(stderr, "%s\n", FormatFaults(faults).c_str());
  return 1;
}

}  // namespace levee
