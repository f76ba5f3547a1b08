// SPDX-License-Identifier: Apache-2.0
#include "lab/text_layout.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

constexpr size_t kWidestText = 30;

// Breaks a sentence between words. The first line begins with "  - ".
std::string Sentence(std::string_view sentence, size_t columns) {
  std::string text;
  std::string line = "  -";
  size_t at = 0;
  while (at < sentence.size()) {
    const size_t end = std::min(sentence.find(' ', at), sentence.size());
    if (line.size() + 1 + (end - at) > columns) {
      absl::StrAppend(&text, line, "\n");
      line = "   ";
    }
    line.append(" ").append(sentence.substr(at, end - at));
    at = end + 1;
  }
  return absl::StrCat(text, line, "\n");
}

}  // namespace

void AppendSentences(const std::vector<std::string>& sentences, size_t columns, std::string& text) {
  for (const std::string& sentence : sentences) text += Sentence(sentence, columns);
}

void AppendTable(const std::vector<std::vector<std::string>>& rows, bool numbers,
                 std::string& text) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      if (numbers || row[i].size() <= kWidestText) widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const auto& row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - std::min(widths[i], row[i].size()), ' ');
      absl::StrAppend(&line, i > 0 ? "  " : "", numbers ? pad : "", row[i], numbers ? "" : pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
}

}  // namespace levee
