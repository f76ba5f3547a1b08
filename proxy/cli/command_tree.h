// SPDX-License-Identifier: Apache-2.0
// The definition of the command line as plain values. Completions and manual pages are written from
// it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace levee {

// An option, or an argument without a name.
struct OptionDescription {
  std::vector<std::string> names;    // with their dashes, the short one first; none: an argument
  std::string value;                 // the name of its value, as FILE; empty: it has no value
  std::string range;                 // of its value, as "[1 - 64]"; empty: none is known
  std::vector<std::string> choices;  // all allowed values; empty: they are no list
  std::string default_value;         // empty: none
  std::string description;           // one line
  bool repeated = false;             // may be given more than once
};

struct CommandDescription {
  std::string name;  // with the names of the commands above it, as "levee import envoy"
  std::string description;
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> arguments;
  std::vector<CommandDescription> commands;
};

// A command that a command line names.
struct ParsedCommand {
  CommandDescription command;
  std::vector<std::string> unknown_words;      // that stand behind it
  bool lacks_command = false;                  // it needs one of those below it, and has none
  std::vector<std::string> missing_arguments;  // the names of the values of those that it needs
};

// Returns the command of `app` with all commands below it. `before`: the names of the commands
// above it.
CommandDescription DescribeCommand(const CLI::App& app, const std::string& before = "");

// Returns the commands of the command line that `app` has parsed, also if it found a fault: `app`
// and then each time the one below.
std::vector<ParsedCommand> ParsedCommandsOf(const CLI::App& app);

// Returns the last word of a command's name, as "envoy".
std::string LastWord(const CommandDescription& command);

}  // namespace levee
