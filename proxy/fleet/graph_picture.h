// SPDX-License-Identifier: Apache-2.0
// The picture of a call graph, as SVG within HTML.
#pragma once

#include <string>

#include "fleet/report.h"

namespace levee::fleet {

// Returns the graph as a tree with a bar for the attempts per call of each edge, and a line at the
// bound. The graph has an edge.
std::string GraphPicture(const Report& report);

}  // namespace levee::fleet
