// SPDX-License-Identifier: Apache-2.0
// Sentences and tables for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace levee {

// The sentences of a report fit into so many columns.
inline constexpr size_t kTextColumns = 80;

// Appends each sentence as "  - ...", broken between words where a line has more than `columns`.
void AppendSentences(const std::vector<std::string>& sentences, size_t columns, std::string& text);

// Appends rows with columns as wide as their widest cell. Numbers stand on the right. A text of
// more than 30 characters does not widen its column, so that one long list does not push every row
// past the edge of a terminal; what follows it in its row stands further right.
void AppendTable(const std::vector<std::vector<std::string>>& rows, bool numbers,
                 std::string& text);

}  // namespace levee
