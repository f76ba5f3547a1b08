// SPDX-License-Identifier: Apache-2.0
// A simulation as JSON.
#pragma once

#include <string>

#include "lab/simulation.h"

namespace levee {

// {"verdict", "policies": [{"name", "amplification", ...}], "expectations": [{"text", "ok",
// "value"}], ...}; docs/simulate.md has every member.
std::string SimulationJson(const Simulation& simulation);

}  // namespace levee
