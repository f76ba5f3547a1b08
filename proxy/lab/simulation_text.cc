// SPDX-License-Identifier: Apache-2.0
#include "lab/simulation_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lab/simulation_cells.h"
#include "lab/stability_text.h"
#include "lab/text_layout.h"

namespace levee {
namespace {

constexpr size_t kColumns = 80;

void AppendRules(const Simulation& simulation, std::string& text) {
  std::vector<std::vector<std::string>> rows = SimulationCells(simulation);
  rows.insert(rows.begin(), SimulationHead());
  size_t width = 0;  // of the names, which stand on the left
  for (const auto& row : rows) width = std::max(width, row.front().size());
  for (auto& row : rows) row.front().resize(width, ' ');
  AppendTable(rows, /*numbers=*/true, text);
}

}  // namespace

std::string SimulationText(const Simulation& simulation) {
  std::string text = absl::StrCat(simulation.name, ": ", RunWords(simulation), "\n");
  AppendSentences({simulation.verdict}, kColumns, text);
  absl::StrAppend(&text, "\n");
  AppendRules(simulation, text);
  for (const SimulatedRule& rule : simulation.rules) {
    if (simulation.seeds == 1 || rule.stuck == 0) continue;
    absl::StrAppend(&text, "  ", rule.name, " is stuck with ", rule.stuck, " of ", simulation.seeds,
                    " seeds\n");
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
