// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_word.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

std::string DescribeUnknownWord(const std::vector<ParsedCommand>& commands) {
  for (const ParsedCommand& parsed : commands) {
    if (parsed.unknown_words.empty()) continue;
    return absl::StrCat(parsed.command.name, ": ",
                        Unknown(parsed.command, parsed.unknown_words.front()), "\nRun ",
                        parsed.command.name, " --help for more information.");
  }
  return "";
}

std::string DescribeMissingWord(const std::vector<ParsedCommand>& commands) {
  const ParsedCommand& last = commands.back();
  const std::string& name = last.command.name;
  if (last.lacks_command) {
    std::vector<std::string> names;
    for (const CommandDescription& sub : last.command.commands) names.push_back(LastWord(sub));
    return absl::StrCat(name, ": a command is missing; there are ", absl::StrJoin(names, ", "),
                        "\nRun ", name, " --help for what they do.");
  }
  if (last.missing_arguments.empty()) return "";
  return absl::StrCat(name, ": ", last.missing_arguments.front(), " is required\nRun ", name,
                      " --help for more information.");
}

}  // namespace levee
