// SPDX-License-Identifier: Apache-2.0
// How `levee explain` is asked on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/explain_command.h"

namespace levee {

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
CLI::App* AddExplain(CLI::App& app, ExplainOptions& options);

}  // namespace levee
