// SPDX-License-Identifier: Apache-2.0
// Runs a program of the system to its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace levee {

struct ToolResult {
  int code = 0;         // its exit code; 127: it could not be run, or a signal ended it
  std::string output;   // of its standard output
  std::string message;  // of its standard error, or why it could not be run
};

// Runs `command`, whose first word is looked up in PATH, with `input` on its standard input, and
// waits for its end.
ToolResult RunTool(const std::vector<std::string>& command, std::string_view input = "");

}  // namespace levee
