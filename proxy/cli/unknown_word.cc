// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_word.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/command_tree.h"
#include "config/fault.h"
#include "config/suggest.h"

namespace levee {
namespace {

std::vector<std::string> OptionNames(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// `word`: as given, with the value of "--name=value".
std::string UnknownOption(const CommandDescription& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  // An option that is given before the command to which it belongs.
  for (const CommandDescription& sub : command.commands) {
    const std::vector<std::string> names = OptionNames(sub);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    return absl::StrCat(name, " is an option of ", sub.name, " and stands behind it");
  }
  return absl::StrCat("there is no option ", Quoted(name),
                      Suggestion(name, OptionNames(command), "there are"));
}

// Returns the command of a command line that stands below all others. `before` becomes the names of
// the commands above it.
const CLI::App& LastCommand(const CLI::App& app, std::string& before) {
  const CLI::App* at = &app;
  for (auto below = at->get_subcommands(); !below.empty(); below = at->get_subcommands()) {
    absl::StrAppend(&before, at->get_name(), " ");
    at = below.front();
  }
  return *at;
}

std::string Unknown(const CommandDescription& command, const std::string& word) {
  if (word.starts_with('-')) return UnknownOption(command, word);
  if (command.commands.empty()) {
    return absl::StrCat("the argument ", Quoted(word), " is one too many");
  }
  std::vector<std::string> names;
  for (const CommandDescription& sub : command.commands) names.push_back(LastWord(sub));
  return absl::StrCat("there is no command ", Quoted(word), Suggestion(word, names, "there are"));
}

}  // namespace

std::string DescribeUnknownWord(const CLI::App& app) {
  std::string before;
  for (const CLI::App* at = &app; at != nullptr;) {
    for (const std::string& word : at->remaining()) {
      if (word == "--") continue;
      const CommandDescription command = ReadCommand(*at, before);
      return absl::StrCat(command.name, ": ", Unknown(command, word), "\nRun ", command.name,
                          " --help for more information.");
    }
    const std::vector<CLI::App*> below = at->get_subcommands();
    absl::StrAppend(&before, at->get_name(), " ");
    at = below.empty() ? nullptr : below.front();
  }
  return "";
}

std::string DescribeMissingCommand(const CLI::App& app) {
  std::string before;
  const CLI::App& last = LastCommand(app, before);
  if (last.get_require_subcommand_min() == 0) return "";
  const CommandDescription command = ReadCommand(last, before);
  std::vector<std::string> names;
  for (const CommandDescription& sub : command.commands) names.push_back(LastWord(sub));
  return absl::StrCat(command.name, ": a command is missing; there are ",
                      absl::StrJoin(names, ", "), "\nRun ", command.name,
                      " --help for what they do.");
}

std::string DescribeMissingArgument(const CLI::App& app) {
  std::string before;
  const CLI::App& last = LastCommand(app, before);
  for (const CLI::Option* option : last.get_options()) {
    if (!option->get_positional() || !option->get_required() || option->count() > 0) continue;
    const std::string name = absl::StrCat(before, last.get_name());
    return absl::StrCat(name, ": ", option->get_type_name(), " is required\nRun ", name,
                        " --help for more information.");
  }
  return "";
}

}  // namespace levee
