// SPDX-License-Identifier: Apache-2.0
// How `levee explain` is asked on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/explain_command.h"

namespace levee {

// Adds the policy files that check and explain read.
void AddFiles(CLI::App& command, std::vector<std::string>& files);

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
CLI::App* AddExplain(CLI::App& app, ExplainOptions& options);

}  // namespace levee
