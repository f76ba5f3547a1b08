// SPDX-License-Identifier: Apache-2.0
// The command `levee replay`: the calls of an access log under another policy.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

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
CLI::App* AddReplay(CLI::App& app, ReplayOptions& options);

// Prints the result on standard output, and what is wrong on standard error. Returns the exit code.
int RunReplay(const ReplayOptions& options);

}  // namespace levee
