// SPDX-License-Identifier: Apache-2.0
// The table that `levee demo` ends with.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>

namespace levee {

// Two numbers of a row: of the run without Levee, or without a guard, and of the one with it.
struct Row {
  double without = -1;
  double with = -1;
};

// Returns those of the row that begins with `what`; -1 if there is none.
inline Row RowOf(const std::string& output, const std::string& what) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(what, 0) != 0) continue;
    std::istringstream values(line.substr(24));
    Row row;
    std::string without, with;
    for (std::string word; values >> word;) {
      if (word[0] == '(') continue;
      (without.empty() ? without : with) = word;
    }
    return {std::strtod(without.c_str(), nullptr), std::strtod(with.c_str(), nullptr)};
  }
  return {};
}

}  // namespace levee
