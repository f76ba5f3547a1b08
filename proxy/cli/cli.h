// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include "cli/command_tree.h"

namespace levee {

// Parses the command line and runs the command. Returns the exit code: 0 for success, 1 if the
// configuration or the run failed (the reason is on stderr), 2 for wrong usage.
int RunCommand(int argc, char** argv);

// Returns the definition of the command line, from which its documents are written.
CommandDescription DescribeCommandLine();

}  // namespace levee
