// The command `levee check`: all faults of a configuration at once.
#pragma once

#include <string>
#include <vector>

namespace levee {

// Checks `files` ("-": standard input) as the one configuration that `levee run` makes of them, and
// prints on standard output every fault there is, or a line per file that says there is none.
// Returns the exit code.
int RunCheck(const std::vector<std::string>& files);

}  // namespace levee
