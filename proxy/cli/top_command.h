// SPDX-License-Identifier: Apache-2.0
// The command `levee top`: what a running sidecar does, live in a terminal, or as a line a second.
#pragma once

#include <string>

#include "cli/admin_port.h"
#include "cli/command_line.h"

namespace levee {

struct TopOptions {
  std::string address = kDefaultAdminAddress;
  int count = 0;  // of answers to show; 0: until it is ended
};

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddTop(Command app, TopOptions& options);

// Shows the sidecar until it is ended, its reader has gone, or `count` is reached. A sidecar that
// stops to answer is asked again every second. Returns the exit code: 1 if the first or the last
// question had no answer.
int RunTop(const TopOptions& options);

}  // namespace levee
