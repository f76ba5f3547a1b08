// SPDX-License-Identifier: Apache-2.0
// The stability map of a scenario for a terminal and as a picture.
#pragma once

#include <string>

#include "lab/stability_map.h"

namespace levee {

// Returns "3 of 80 runs stuck, 10 slow".
std::string StabilityWords(const StabilityMap& map, const StabilityMap::Rule& rule);

// Returns "load (across) x capacity left (down)".
std::string AxesWords(const StabilityMap& map);

std::string StabilityText(const StabilityMap& map);

// Returns the map of one rule as SVG.
std::string StabilityChart(const StabilityMap& map, const StabilityMap::Rule& rule);

}  // namespace levee
