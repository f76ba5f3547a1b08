// SPDX-License-Identifier: Apache-2.0
// The definition of commands and their options, and the reading of a command line by it. CLI11 does
// it; only command_line.cc and command_tree.cc include CLI11, whose headers take seconds to
// compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_tree.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace levee {

// Returns what is wrong with a value; empty: nothing.
using ValueCheck = std::function<std::string(const std::string&)>;

// Takes in a value.
using ValueReader = std::function<void(const std::string&)>;

// An option, a flag or an argument of a command. This is a handle: its copies are the same option,
// which lives as long as its CommandLine. Each function returns the handle, for the next one.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  // Help calls the value by this name, as FILE.
  CommandOption ValueName(const std::string& name) const;

  CommandOption Required() const;

  // Help shows the value that the variable has now, or `text`, as the default.
  CommandOption ShowDefault() const;
  CommandOption ShowDefault(const std::string& text) const;

  // Each value has to be one of these, or from `least` to `most`, which help shows, or one in which
  // `check` finds no fault.
  CommandOption OneOf(const std::vector<std::string>& values) const;
  CommandOption Within(int least, int most) const;
  CommandOption Within(double least, double most) const;
  CommandOption Check(ValueCheck check) const;

  // A command line that has this option must not have, or must have, the other one.
  CommandOption Excludes(CommandOption other) const;
  CommandOption Needs(CommandOption other) const;

  // For a list: `separator` divides values in one word of the command line; it takes exactly
  // `count` values; its name stands before each value.
  CommandOption SplitAt(char separator) const;
  CommandOption Count(int count) const;
  CommandOption NamedEachTime() const;

 private:
  CLI::Option* option_;
};

// A command. This is a handle, too, and its copies are the same command. `what` of its functions
// is the line that help shows. Parsing writes into the variables, which must outlive it.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // Adds a command below this one.
  Command AddCommand(const std::string& name, const std::string& what) const;

  // Adds what is true if it is given. `names`: as "-v,--verbose".
  CommandOption AddFlag(const std::string& names, bool& variable, const std::string& what) const;

  // Adds an option, as "-o,--output", or an argument, as "file", which keeps what the variable has
  // if it is not given.
  CommandOption AddOption(const std::string& names, std::string& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, std::optional<std::string>& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, std::vector<std::string>& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, int& variable, const std::string& what) const;
  CommandOption AddOption(const std::string& names, double& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, uint16_t& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, uint64_t& variable,
                          const std::string& what) const;
  CommandOption AddOption(const std::string& names, std::optional<uint32_t>& variable,
                          const std::string& what) const;
  // `read` is called with the value, after its checks.
  CommandOption AddOption(const std::string& names, ValueReader read,
                          const std::string& what) const;
  // The same with a value that `read` itself checks.
  CommandOption AddCheckedOption(const std::string& name, ValueCheck read,
                                 const std::string& what) const;

  // The text at the end of help.
  void Footer(const std::string& text) const;

  // A command line with this command names a command below it.
  void RequireCommand() const;

  // The names of the commands below, in the order in which they were added.
  std::vector<std::string> CommandNames() const;

  // Whether the command line that was read names this command.
  bool parsed() const;

 private:
  CLI::App* app_;
};

// The result of reading a command line.
struct Reading {
  enum class Kind {
    kCommand,     // a command, with its options
    kText,        // help or the version
    kIncomplete,  // nothing: a command, an option or an argument that is needed is missing
    kFaulty,      // nothing: something else is wrong
  };
  Kind kind = Kind::kCommand;
  std::string text;  // what to print: on standard output for kText, else on standard error
};

// The command of the whole program, and what is below it.
class CommandLine {
 public:
  // `about`, before the list of commands, says what the program does. `version`: the answer to
  // --version.
  CommandLine(const std::string& name, const std::string& about, const std::string& version);
  ~CommandLine();

  Command top() const { return Command(app_.get()); }

  // Reads a command line as main() gets it, once. Writes into the variables of options.
  Reading Read(int argc, char** argv);

  CommandDescription Describe() const;

  // See ParsedCommandsOf.
  std::vector<ParsedCommand> ParsedCommands() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace levee
