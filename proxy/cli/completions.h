// SPDX-License-Identifier: Apache-2.0
// Completions for shells, written from the definition of the command line.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace levee {

// The script that each shell loads. They complete commands, options, the values of those that take
// one of a few, and files.
std::string BashCompletion(const Command& command);
std::string ZshCompletion(const Command& command);
std::string FishCompletion(const Command& command);

}  // namespace levee
