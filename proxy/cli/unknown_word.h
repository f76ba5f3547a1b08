// SPDX-License-Identifier: Apache-2.0
// Names the word of a command line that Levee does not know, or the one that is missing.
#pragma once

#include <string>
#include <vector>

#include "cli/command_tree.h"

namespace levee {

// Returns two lines about the first command, option or argument that one of `commands` did not
// know: "levee: there is no command "rnu"; did you mean run?", and which help says more. Empty if
// every word was known.
std::string DescribeUnknownWord(const std::vector<ParsedCommand>& commands);

// Returns two lines about what the last of `commands`, which are not empty, needs and did not get:
// the commands of which one is missing, "levee: a command is missing; there are run, demo", or the
// first argument, by the name of its value, "levee check: FILE is required"; and which help says
// more. Empty if nothing of both is missing.
std::string DescribeMissingWord(const std::vector<ParsedCommand>& commands);

}  // namespace levee
