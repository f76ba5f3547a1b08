// SPDX-License-Identifier: Apache-2.0
#include "fleet/report_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/report_cells.h"
#include "lab/text_layout.h"

namespace levee::fleet {
namespace {

constexpr size_t kColumns = 80;

// The first column: where the edge leads, below where it comes from.
std::string PlaceText(const Report& report, const Place& place) {
  const bool outside = place.edge != nullptr && place.edge->outside;
  const bool marked = place.edge != nullptr && report.Multiplies(*place.edge);
  return absl::StrCat(std::string(2 * static_cast<size_t>(place.depth), ' '),
                      place.edge == nullptr || outside ? "" : "-> ", place.name,
                      outside ? " (from outside)" : "", place.again ? " (above)" : "",
                      marked ? " !" : "");
}

void AppendGraph(const Report& report, std::string& text) {
  std::vector<std::vector<std::string>> rows = {EdgeHead(report)};
  rows.front().insert(rows.front().begin(), "");
  for (const Place& place : TreeOf(report.graph)) {
    std::vector<std::string>& row = rows.emplace_back();
    if (place.edge != nullptr) row = EdgeCells(report, *place.edge);
    row.insert(row.begin(), PlaceText(report, place));
  }
  size_t width = 0;  // of the tree, which stands on the left
  for (const auto& row : rows) width = std::max(width, row.front().size());
  for (auto& row : rows) row.front().resize(width, ' ');
  AppendTable(rows, /*numbers=*/true, text);
}

}  // namespace

std::string ReportText(const Report& report) {
  std::string text = absl::StrCat(ExtentWords(report), "\n");
  AppendSentences(Judge(report), kColumns, text);
  if (report.graph.edges.empty()) return text;
  absl::StrAppend(&text, "\n");
  AppendGraph(report, text);
  absl::StrAppend(&text, "\n", kLegend);
  return text;
}

}  // namespace levee::fleet
