// SPDX-License-Identifier: Apache-2.0
// The definition of the command line as plain values, for what is written from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace levee {

// An option, or an argument without a name.
struct CommandOption {
  std::vector<std::string> names;    // with their dashes, the short one first; none: an argument
  std::string value;                 // what it takes, as FILE; empty: nothing
  std::string range;                 // as "[1 - 64]"; empty: none is known
  std::vector<std::string> choices;  // all that it takes, if that is a list
  std::string default_value;         // empty: none
  std::string description;           // one line
  bool repeated = false;             // may be given more than once
};

struct Command {
  std::string name;  // with the names before it, as "levee import envoy"
  std::string description;
  std::string footer;
  std::vector<CommandOption> options;
  std::vector<CommandOption> arguments;
  std::vector<Command> commands;
};

// The command of `app` and all below it; `before` is what is typed before its name.
Command ReadCommand(const CLI::App& app, const std::string& before = "");

}  // namespace levee
