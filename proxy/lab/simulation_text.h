// SPDX-License-Identifier: Apache-2.0
// A simulation as text for a terminal of 80 columns.
#pragma once

#include <string>

#include "lab/simulation.h"

namespace levee {

std::string SimulationText(const Simulation& simulation);

}  // namespace levee
