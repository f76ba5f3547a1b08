// SPDX-License-Identifier: Apache-2.0
// The command `levee doctor`: what is wrong with a sidecar, and what helps.
#pragma once

#include <string>

#include "cli/admin_port.h"
#include "cli/command_line.h"

namespace levee {

struct DoctorOptions {
  std::string pod;              // a file with manifests, "-": standard input; empty: none
  std::string address;          // admin.address of a sidecar elsewhere; empty: the default, here
  std::string output = "text";  // or "json"
  bool strict = false;          // a warning fails as well
};

// Defines the command below `app`. Parsing writes into `options`.
Command AddDoctor(Command app, DoctorOptions& options);

// Checks the pods of a file, a sidecar that runs, or both, and prints a line for each check on
// standard output. Returns the exit code.
int RunDoctor(const DoctorOptions& options);

}  // namespace levee
