// SPDX-License-Identifier: Apache-2.0
// The pictures of a simulation, as SVG within HTML.
#pragma once

#include <string>

#include "lab/simulation.h"

namespace levee {

// Returns requests, attempts and answers per second of a run. `top`: the rate at the upper edge, so
// that the pictures of several rules can be compared.
std::string TimelineChart(const Simulation& simulation, const SimulatedRule& rule, int64_t top);

// Returns how many calls wait at services under each rule.
std::string QueueChart(const Simulation& simulation);

// Returns which share of the requests answered OK is answered within a time, under each rule.
std::string LatencyChart(const Simulation& simulation);

}  // namespace levee
