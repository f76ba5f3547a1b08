// SPDX-License-Identifier: Apache-2.0
#include "cli/command_tree.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace levee {
namespace {

// Reads the text in which CLI11 shows a type and its checks: "TEXT:{a,b}", "INT:INT in [1 - 64]" or
// "FILE".
void ReadType(absl::string_view text, OptionDescription& option) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  // The text HOST:PORT has a colon, but no check.
  const bool has_check =
      absl::StrContains(parts.second, '{') || absl::StrContains(parts.second, '[');
  option.value = std::string(has_check ? parts.first : text);
  if (!has_check) return;
  absl::string_view check = parts.second;
  if (absl::ConsumePrefix(&check, "{") && absl::ConsumeSuffix(&check, "}")) {
    option.choices = absl::StrSplit(check, ',');
  } else {
    option.range = std::string(check.substr(check.find('[')));
  }
}

OptionDescription ReadOption(const CLI::Option& from) {
  OptionDescription option;
  for (const std::string& name : from.get_snames()) option.names.push_back(absl::StrCat("-", name));
  for (const std::string& name : from.get_lnames())
    option.names.push_back(absl::StrCat("--", name));
  if (from.get_items_expected_max() > 0) {
    ReadType(from.get_type_name(), option);
    option.default_value = from.get_default_str();
  }
  option.description = from.get_description();
  option.repeated = from.get_items_expected_max() > 1;
  return option;
}

std::vector<std::string> MissingArguments(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !option->get_required() || option->count() > 0) continue;
    names.push_back(ReadOption(*option).value);
  }
  return names;
}

}  // namespace

CommandDescription DescribeCommand(const CLI::App& app, const std::string& before) {
  CommandDescription command;
  command.name = absl::StrCat(before, app.get_name());
  command.description = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    auto& list = option->get_positional() ? command.arguments : command.options;
    list.push_back(ReadOption(*option));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(DescribeCommand(*sub, absl::StrCat(command.name, " ")));
  }
  return command;
}

std::vector<ParsedCommand> ParsedCommandsOf(const CLI::App& app) {
  std::vector<ParsedCommand> commands;
  std::string before;
  for (const CLI::App* at = &app; at != nullptr;) {
    const std::vector<CLI::App*> below = at->get_subcommands();
    ParsedCommand parsed = {.command = DescribeCommand(*at, before)};
    for (const std::string& word : at->remaining()) {
      if (word != "--") parsed.unknown_words.push_back(word);
    }
    parsed.lacks_command = below.empty() && at->get_require_subcommand_min() > 0;
    parsed.missing_arguments = MissingArguments(*at);
    before = absl::StrCat(parsed.command.name, " ");
    commands.push_back(std::move(parsed));
    at = below.empty() ? nullptr : below.front();
  }
  return commands;
}

std::string LastWord(const CommandDescription& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

}  // namespace levee
