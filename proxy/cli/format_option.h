// SPDX-License-Identifier: Apache-2.0
// The option of commands that print for people or for programs.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace levee {

// Adds -o, --output: text or json. The default is what `format` has; parsing writes into it.
CommandOption AddFormat(Command command, std::string& format);

}  // namespace levee
