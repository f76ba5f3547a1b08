// SPDX-License-Identifier: Apache-2.0
// Completions for shells, written from the definition of the command line.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace levee {

// Each returns the script that its shell loads. The scripts complete commands, options, files, and
// the values of options that have a list of them.
std::string BashCompletion(const CommandDescription& command);
std::string ZshCompletion(const CommandDescription& command);
std::string FishCompletion(const CommandDescription& command);

}  // namespace levee
