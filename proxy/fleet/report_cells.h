// SPDX-License-Identifier: Apache-2.0
// A fleet as rows of texts, for all ways in which it is shown.
#pragma once

#include <string>
#include <vector>

#include "fleet/report.h"

namespace levee::fleet {

// "3 sidecars, 5s"; what was not read is counted, too.
std::string ExtentWords(const Report& report);

// The titles of the columns behind the first, and their texts for an edge. Numbers are per second,
// or since the start of the sidecars.
std::vector<std::string> EdgeHead(const Report& report);

// The meaning of the columns, in lines for a terminal.
inline constexpr const char* kLegend =
    "  sent: attempts, of which retries by Levee, its hedges, and retries that the\n"
    "  application makes, by a header or in a loop; above: calls since callers retry\n";
std::vector<std::string> EdgeCells(const Report& report, const Edge& edge);

// A node of the call graph as a tree.
struct Place {
  int depth = 0;  // 1 more than that of the last place above that calls it
  std::string name;
  const Edge* edge = nullptr;  // that leads here; nullptr: a node that nobody calls
  bool again = false;          // what it calls is shown at an earlier place
};

// The call graph as a tree, each edge once.
std::vector<Place> TreeOf(const Graph& graph);

}  // namespace levee::fleet
