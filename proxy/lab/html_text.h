// SPDX-License-Identifier: Apache-2.0
// Parts of the lab's HTML files: each is one file that opens from disk and loads nothing.
#pragma once

#include <string>
#include <vector>

namespace levee {

// Returns the text with the characters replaced that mean something to HTML.
std::string EscapeHtml(const std::string& text);

// Returns a whole file. `body` is HTML; `title` is text. Colours follow the reader's light or dark.
std::string HtmlFile(const std::string& title, const std::string& body);

// Returns a part of the file with a heading. `content` is HTML.
std::string HtmlSection(const std::string& title, const std::string& content);

// Returns a table of texts, which can be scrolled where it is too wide. `label`: text for readers
// who do not see it. `numbers`: all columns are numbers but the first.
std::string HtmlTable(const std::string& label, const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows, bool numbers);

// Returns a list of sentences; empty if there are none.
std::string HtmlList(const std::vector<std::string>& sentences);

}  // namespace levee
