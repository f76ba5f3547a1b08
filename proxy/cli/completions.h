// SPDX-License-Identifier: Apache-2.0
// Completions for shells, written from the definition of the command line.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace levee {

// Each returns the script that its shell loads. The scripts complete commands, options, files, and
// the values of options that have a list of them.
std::string BashCompletion(const Command& command);
std::string ZshCompletion(const Command& command);
std::string FishCompletion(const Command& command);

}  // namespace levee
