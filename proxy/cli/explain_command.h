// SPDX-License-Identifier: Apache-2.0
// The command `levee explain`: what a policy will do with a call, before it does it.
#pragma once

#include <string>
#include <vector>

#include "lab/explanation.h"

namespace levee {

struct ExplainOptions {
  std::vector<std::string> files;  // one configuration; "-": standard input
  ExplainQuestion question;
  std::string output = "text";  // or "json"
  std::string html;             // a file to write the explanation to as well; empty: none
};

// Prints the explanation on standard output. If the files have faults, it prints these on standard
// error, as `levee check` does. Returns the exit code.
int RunExplain(const ExplainOptions& options);

}  // namespace levee
