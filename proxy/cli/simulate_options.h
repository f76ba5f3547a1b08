// SPDX-License-Identifier: Apache-2.0
// How `levee simulate` is asked on the command line.
#pragma once

#include "cli/command_line.h"
#include "cli/simulate_command.h"

namespace levee {

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddSimulate(Command app, SimulateOptions& options);

}  // namespace levee
