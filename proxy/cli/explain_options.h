// SPDX-License-Identifier: Apache-2.0
// How `levee explain` is asked on the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/explain_command.h"

namespace levee {

// Adds the policy files that check and explain read.
void AddFiles(Command command, std::vector<std::string>& files);

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddExplain(Command app, ExplainOptions& options);

}  // namespace levee
