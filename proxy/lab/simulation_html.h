// SPDX-License-Identifier: Apache-2.0
// A simulation as one HTML file.
#pragma once

#include <string>

#include "lab/simulation.h"

namespace levee {

std::string SimulationHtml(const Simulation& simulation);

}  // namespace levee
