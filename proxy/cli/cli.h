// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include "cli/command_tree.h"

namespace levee {

// Parses the command line and runs the command. Returns the exit code: 0 fine, 1 the configuration
// or the run failed (the reason is on stderr), 2 wrong usage.
int RunCommand(int argc, char** argv);

// The definition of the command line, from which its documents are written.
Command DescribeCommandLine();

}  // namespace levee
