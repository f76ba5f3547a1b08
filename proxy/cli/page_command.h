// SPDX-License-Identifier: Apache-2.0
// The command `levee page`: the page of a snapshot.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace levee {

struct PageOptions {
  std::string file;  // "-": standard input
  std::string listen = "127.0.0.1:0";
};

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddPage(Command app, PageOptions& options);

// Serves the page until the process is asked to end. Returns the exit code.
int RunPage(const PageOptions& options);

}  // namespace levee
