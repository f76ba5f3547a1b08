// SPDX-License-Identifier: Apache-2.0
// Names the word of a command line that Levee does not know, or the one that is missing.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace levee {

// Returns two lines about the first command, option or argument that `app` or a command below it
// did not know when it parsed a command line: "levee: there is no command "rnu"; did you mean
// run?", and which help says more. Empty if every word was known.
std::string DescribeUnknownWord(const CLI::App& app);

// Returns two lines that name the commands of which one is missing: "levee: a command is missing;
// there are run, demo". Empty if none is.
std::string DescribeMissingCommand(const CLI::App& app);

// Returns two lines about the first argument that the command of a command line needs and did not
// get, by the name of its value: "levee check: FILE is required", and which help says more. Empty
// if it has all.
std::string DescribeMissingArgument(const CLI::App& app);

}  // namespace levee
