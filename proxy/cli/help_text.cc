// SPDX-License-Identifier: Apache-2.0
#include "cli/help_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace levee {
namespace {

constexpr size_t kColumns = 80;

// Breaks a line between words; what describes a name goes on below itself, in `column`.
std::string Broken(std::string line, size_t column) {
  const std::string indent(line.starts_with(' ') ? column : 0, ' ');
  std::string text;
  while (line.size() > kColumns) {
    const size_t space = line.rfind(' ', kColumns);
    if (space == std::string::npos || space <= indent.size()) break;
    absl::StrAppend(&text, line.substr(0, space), "\n");
    line = absl::StrCat(indent, line.substr(space + 1));
  }
  return text + line;
}

}  // namespace

std::string FitHelp(const std::string& help, size_t column) {
  std::vector<std::string> lines = absl::StrSplit(help, '\n');
  for (std::string& line : lines) line = Broken(std::move(line), column);
  return absl::StrJoin(lines, "\n");
}

}  // namespace levee
