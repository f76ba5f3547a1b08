// SPDX-License-Identifier: Apache-2.0
// How `levee simulate` is asked on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/simulate_command.h"

namespace levee {

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
CLI::App* AddSimulate(CLI::App& app, SimulateOptions& options);

}  // namespace levee
