// SPDX-License-Identifier: Apache-2.0
// Options whose value is a duration.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/time/time.h"

namespace levee {

// Returns a check that a text is a duration with a unit, from `least` to `most`.
std::function<std::string(const std::string&)> DurationWithin(absl::Duration least,
                                                              absl::Duration most);

// Adds an option with such a value, whose default is that of `duration`. Parsing writes into it.
CLI::Option* AddDuration(CLI::App& command, const std::string& name, absl::Duration& duration,
                         absl::Duration least, absl::Duration most, const std::string& what);

}  // namespace levee
