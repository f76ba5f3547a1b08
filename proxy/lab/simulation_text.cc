// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lab/simulation_cells.h"
#include "lab/stability_text.h"
#include "lab/text_layout.h"

namespace levee {
namespace {

using Row = std::vector<std::string>;

// Appends a table of numbers, whose first columns, so many, are names.
void AppendNumbers(Row head, std::vector<Row> rows, size_t names, std::string& text) {
  rows.insert(rows.begin(), std::move(head));
  for (size_t name = 0; name < names; ++name) {
    size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row[name].size());
    for (Row& row : rows) row[name].resize(width, ' ');
  }
  AppendTable(rows, /*numbers=*/true, text);
}

}  // namespace

std::string SimulationText(const Simulation& simulation) {
  std::string text = absl::StrCat(simulation.name, ": ", RunWords(simulation), "\n");
  AppendSentences({simulation.verdict}, kTextColumns, text);
  absl::StrAppend(&text, "\n");
  AppendNumbers(SimulationHead(), SimulationCells(simulation), /*names=*/1, text);
  for (const SimulatedRule& rule : simulation.rules) {
    if (simulation.seeds == 1 || rule.stuck == 0) continue;
    absl::StrAppend(&text, "  ", rule.name, " is stuck with ", rule.stuck, " of ", simulation.seeds,
                    " seeds\n");
  }
  if (!simulation.shadows.empty()) {
    absl::StrAppend(&text, "\n");
    AppendNumbers(ShadowHead(), ShadowCells(simulation), /*names=*/3, text);
  }
  if (simulation.map.has_value()) absl::StrAppend(&text, "\n", StabilityText(*simulation.map));
  if (!simulation.expectations.empty()) absl::StrAppend(&text, "\n");
  for (const SimulatedExpectation& expectation : simulation.expectations) {
    absl::StrAppend(&text, expectation.ok ? "  ok    " : "  FAIL  ", expectation.text, ": ",
                    ValueWords(expectation), "\n");
  }
  return text;
}

}  // namespace levee
