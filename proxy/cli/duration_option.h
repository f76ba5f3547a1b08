// SPDX-License-Identifier: Apache-2.0
// Options whose value is a duration.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "cli/command_line.h"

namespace levee {

// Returns a check that a text is a duration with a unit, from `least` to `most`.
ValueCheck DurationWithin(absl::Duration least, absl::Duration most);

// Adds an option with such a value, whose default is that of `duration`. Parsing writes into it.
CommandOption AddDuration(Command command, const std::string& name, absl::Duration& duration,
                          absl::Duration least, absl::Duration most, const std::string& what);

}  // namespace levee
