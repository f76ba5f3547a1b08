// SPDX-License-Identifier: Apache-2.0
#include "cli/completions.h"

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace levee {
namespace {

std::string Words(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const CommandDescription& sub : command.commands) words.push_back(LastWord(sub));
  for (const OptionDescription& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  for (const OptionDescription& argument : command.arguments) {
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  }
  return absl::StrJoin(words, " ");
}

bool TakesFile(const OptionDescription& option) { return option.value == "FILE"; }

bool TakesFileArgument(const CommandDescription& command) {
  return !command.arguments.empty() && TakesFile(command.arguments.front());
}

void VisitAll(const CommandDescription& command,
              absl::FunctionRef<void(const CommandDescription&)> visit) {
  visit(command);
  for (const CommandDescription& sub : command.commands) VisitAll(sub, visit);
}

// Returns `text` in single quotes, as all three shells read them.
std::string ShellQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Returns `text` with the escapes that it needs inside zsh's 'NAME[TEXT]:...'.
std::string ForZsh(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

// Returns the name of the function that completes a command, as _levee_import_envoy.
std::string ZshFunction(const CommandDescription& command) {
  return absl::StrCat("_", absl::StrReplaceAll(command.name, {{" ", "_"}, {"-", "_"}}));
}

// Returns the zsh code that offers the values of an option or argument.
std::string ZshAction(const OptionDescription& option) {
  if (TakesFile(option)) return "_files";
  if (!option.choices.empty()) return absl::StrCat("(", absl::StrJoin(option.choices, " "), ")");
  return " ";
}

std::string ZshOption(const OptionDescription& option) {
  std::string lines;
  for (const std::string& name : option.names) {
    absl::StrAppend(&lines, " \\\n    '", option.repeated ? "*" : "", name, "[",
                    ForZsh(option.description), "]");
    if (!option.value.empty()) {
      absl::StrAppend(&lines, ":", ForZsh(option.value), ":", ZshAction(option));
    }
    lines += "'";
  }
  return lines;
}

std::string ZshCommand(const CommandDescription& command) {
  std::string text = absl::StrCat(ZshFunction(command), "() {\n  _arguments -C");
  for (const OptionDescription& option : command.options) text += ZshOption(option);
  for (const OptionDescription& argument : command.arguments) {
    absl::StrAppend(&text, " \\\n    '", argument.repeated ? "*" : "", ":", ForZsh(argument.value),
                    ":", ZshAction(argument), "'");
  }
  if (command.commands.empty()) return text + "\n}\n";
  text += " \\\n    '1:command:((";
  for (const CommandDescription& sub : command.commands) {
    absl::StrAppend(&text, LastWord(sub), "\\:\"",
                    absl::StrReplaceAll(sub.description, {{"'", ""}, {"(", "\\("}, {")", "\\)"}}),
                    "\" ");
  }
  text += "))' \\\n    '*::argument:->rest'\n  case \"$words[1]\" in\n";
  for (const CommandDescription& sub : command.commands) {
    absl::StrAppend(&text, "    ", LastWord(sub), ") ", ZshFunction(sub), " ;;\n");
  }
  return text + "  esac\n}\n";
}

// Returns the condition, in fish, that is true while the user types this command.
std::string FishCondition(const CommandDescription& command) {
  const std::vector<std::string> path = absl::StrSplit(command.name, ' ');
  std::vector<std::string> conditions;
  for (size_t i = 1; i < path.size(); ++i) {
    conditions.push_back(absl::StrCat("__fish_seen_subcommand_from ", path[i]));
  }
  std::vector<std::string> below;
  for (const CommandDescription& sub : command.commands) below.push_back(LastWord(sub));
  if (!below.empty()) {
    conditions.push_back(
        absl::StrCat("not __fish_seen_subcommand_from ", absl::StrJoin(below, " ")));
  }
  return absl::StrJoin(conditions, "; and ");
}

std::string FishOption(const std::string& line, const OptionDescription& option) {
  std::string text = line;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    absl::StrAppend(&text, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  if (TakesFile(option)) {
    text += " -r -F";
  } else if (!option.choices.empty()) {
    absl::StrAppend(&text, " -x -a ", ShellQuoted(absl::StrJoin(option.choices, " ")));
  } else if (!option.value.empty()) {
    text += " -x";
  }
  return absl::StrCat(text, " -d ", ShellQuoted(option.description), "\n");
}

}  // namespace

std::string BashCompletion(const CommandDescription& command) {
  std::string known;   // all commands, the longest name last
  std::string values;  // the cases that complete the value of an option
  std::string words;   // the cases that complete commands, options and arguments
  VisitAll(command, [&](const CommandDescription& each) {
    if (&each != &command) absl::StrAppend(&known, known.empty() ? "" : "|", ShellQuoted(each.name));
    for (const OptionDescription& option : each.options) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) {
        absl::StrAppend(
            &values, "    ", ShellQuoted(absl::StrCat(each.name, " ", name)), ") COMPREPLY=(",
            TakesFile(option)
                ? "$(compgen -f -- \"$word\")"
                : absl::StrCat("$(compgen -W ", ShellQuoted(absl::StrJoin(option.choices, " ")),
                               " -- \"$word\")"),
            "); return ;;\n");
      }
    }
    absl::StrAppend(&words, "    ", ShellQuoted(each.name), ") COMPREPLY=($(compgen ",
                    TakesFileArgument(each) ? "-f " : "", "-W ", ShellQuoted(Words(each)),
                    " -- \"$word\")) ;;\n");
  });
  return absl::StrCat(
      "# Completions of levee for bash.\n_levee() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" command=levee i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n      ",
      known,
      ") command+=\" ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n"
      "  case \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in\n",
      values, "  esac\n  case \"$command\" in\n", words,
      "  esac\n}\ncomplete -o filenames -F _levee levee\n");
}

std::string ZshCompletion(const CommandDescription& command) {
  std::string text = "#compdef levee\n# Completions of levee for zsh.\n";
  VisitAll(command, [&](const CommandDescription& each) { text += ZshCommand(each); });
  return absl::StrCat(text, ZshFunction(command), " \"$@\"\n");
}

std::string FishCompletion(const CommandDescription& command) {
  std::string text = "# Completions of levee for fish.\ncomplete -c levee -f\n";
  VisitAll(command, [&](const CommandDescription& each) {
    const std::string line = absl::StrCat("complete -c levee -n ", ShellQuoted(FishCondition(each)));
    for (const CommandDescription& sub : each.commands) {
      absl::StrAppend(&text, line, " -a ", LastWord(sub), " -d ", ShellQuoted(sub.description), "\n");
    }
    for (const OptionDescription& option : each.options) text += FishOption(line, option);
    if (TakesFileArgument(each)) absl::StrAppend(&text, line, " -F\n");
    for (const OptionDescription& argument : each.arguments) {
      if (argument.choices.empty()) continue;
      absl::StrAppend(&text, line, " -a ", ShellQuoted(absl::StrJoin(argument.choices, " ")), "\n");
    }
  });
  return text;
}

}  // namespace levee
