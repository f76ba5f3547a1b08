// SPDX-License-Identifier: Apache-2.0
// The commands that read access logs: `levee replay`, the calls under another policy, and
// `levee advise`, a better policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace levee {

struct ReplayOptions {
  std::vector<std::string> logs;  // files; "-": standard input
  std::string config;             // a policy file
  std::string against;            // another one; empty: none
  uint64_t seed = 1;
  std::string output = "text";  // or "json"
  std::string html;             // a file to write the result to as well; empty: none
};

// Adds the command to `app`. Parsing the command line fills `options`, which must outlive it.
Command AddReplay(Command app, ReplayOptions& options);

// Prints the result on standard output, and what is wrong on standard error. Returns the exit code.
int RunReplay(const ReplayOptions& options);

struct AdviseOptions {
  std::vector<std::string> logs;  // files; "-": standard input
  std::string config;             // the policy file that was in effect
};

// The same for `levee advise`: prints what the log says against values of the policy.
Command AddAdvise(Command app, AdviseOptions& options);
int RunAdvise(const AdviseOptions& options);

}  // namespace levee
