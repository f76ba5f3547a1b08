// SPDX-License-Identifier: Apache-2.0
// The seconds of a simulation as CSV, for spreadsheets and plots.
#pragma once

#include <string>

#include "lab/simulation.h"

namespace levee {

// Returns a head, and a line for each second under each rule, with the first seed.
std::string SimulationCsv(const Simulation& simulation);

}  // namespace levee
