// SPDX-License-Identifier: Apache-2.0
// The command `levee drain`: sends the callers of a running sidecar elsewhere before it stops. It
// is for preStop hooks of containers, which have no shell.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace levee {

struct DrainOptions {
  std::string address;  // IP:PORT of admin.address
};

Command AddDrain(Command app, DrainOptions& options);

// Prints the result on standard output, or the error on standard error. Returns the exit code.
int RunDrain(const DrainOptions& options);

}  // namespace levee
