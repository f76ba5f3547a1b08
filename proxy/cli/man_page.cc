// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace levee {
namespace {

// Returns `text` with escapes, so that troff prints it unchanged. Without them, troff would take
// backslashes, and a dot or quote at the start of a line, as its own commands, and would print `-`
// as a hyphen, which no shell understands.
std::string Escaped(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

std::string Bold(absl::string_view text) { return absl::StrCat("\\fB", Escaped(text), "\\fR"); }
std::string Italic(absl::string_view text) { return absl::StrCat("\\fI", Escaped(text), "\\fR"); }

// Returns the name of a command's page, as levee-import-envoy.
std::string PageName(const CommandDescription& command) {
  return absl::StrReplaceAll(command.name, {{" ", "-"}});
}

std::string Synopsis(const CommandDescription& command) {
  std::string line = Bold(command.name);
  if (!command.options.empty()) absl::StrAppend(&line, " [", Italic("OPTION"), "]...");
  for (const OptionDescription& argument : command.arguments) {
    absl::StrAppend(&line, " ", Italic(argument.value), argument.repeated ? "..." : "");
  }
  if (!command.commands.empty()) absl::StrAppend(&line, " ", Italic("COMMAND"));
  return line;
}

// Returns the lines that follow the name of an option.
std::string Explanation(const OptionDescription& option) {
  std::string text = Escaped(option.description);
  if (!option.choices.empty()) {
    absl::StrAppend(&text, ". One of ", Escaped(absl::StrJoin(option.choices, ", ")));
  }
  if (!option.range.empty()) absl::StrAppend(&text, ", in ", Escaped(option.range));
  if (!option.default_value.empty()) {
    absl::StrAppend(&text, ". Default: ", Escaped(option.default_value));
  }
  return absl::StrCat(absl::StripSuffix(text, "."), ".");
}

std::string Option(const OptionDescription& option) {
  std::string head = absl::StrJoin(
      option.names, ", ",
      [](std::string* out, const std::string& name) { absl::StrAppend(out, Bold(name)); });
  if (!option.value.empty()) {
    absl::StrAppend(&head, head.empty() ? "" : " ", Italic(option.value));
  }
  if (option.repeated) head += "...";
  return absl::StrCat(".TP\n", head, "\n", Explanation(option), "\n");
}

std::string Options(const CommandDescription& command) {
  std::string text;
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionDescription& argument : command.arguments) text += Option(argument);
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  for (const OptionDescription& option : command.options) text += Option(option);
  return text;
}

std::string Commands(const CommandDescription& command) {
  std::string text;
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandDescription& sub : command.commands) {
    absl::StrAppend(&text, ".TP\n", Bold(sub.name), "\n", Escaped(sub.description), ". See ",
                    Bold(PageName(sub)), "(1).\n");
  }
  return text;
}

std::string Page(const CommandDescription& command, std::string_view version) {
  std::string text = absl::StrCat(".TH ", absl::AsciiStrToUpper(PageName(command)),
                                  " 1 \"\" \"levee ", Abseil(version), "\" \"Levee\"\n.SH NAME\n",
                                  Escaped(PageName(command)), " \\- ");
  const std::vector<std::string> about = absl::StrSplit(command.description, '\n');
  absl::StrAppend(&text, Escaped(absl::StrJoin(about, " ")), "\n");
  absl::StrAppend(&text, ".SH SYNOPSIS\n", Synopsis(command), "\n");
  if (!command.footer.empty()) {
    absl::StrAppend(&text, ".SH DESCRIPTION\n", Escaped(command.footer), "\n");
  }
  absl::StrAppend(&text, Commands(command), Options(command));
  return text;
}

void AddPages(const CommandDescription& command, std::string_view version,
              std::vector<ManPage>& pages) {
  pages.push_back({.file = PageName(command) + ".1", .text = Page(command, version)});
  for (const CommandDescription& sub : command.commands) AddPages(sub, version, pages);
}

}  // namespace

std::vector<ManPage> ManPages(const CommandDescription& command, std::string_view version) {
  std::vector<ManPage> pages;
  AddPages(command, version, pages);
  return pages;
}

}  // namespace levee
