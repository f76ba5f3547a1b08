// SPDX-License-Identifier: Apache-2.0
// The results of a simulation as texts.
#pragma once

#include <string>
#include <vector>

#include "lab/simulation.h"

namespace levee {

// Returns the names of the columns of the table of rules.
std::vector<std::string> SimulationHead();

// Returns one text for each column of each rule.
std::vector<std::vector<std::string>> SimulationCells(const Simulation& simulation);

// The same for the table of shadow policies.
std::vector<std::string> ShadowHead();
std::vector<std::vector<std::string>> ShadowCells(const Simulation& simulation);

// Returns "2m, seed 1".
std::string RunWords(const Simulation& simulation);

// Returns the value of an expectation with its unit.
std::string ValueWords(const SimulatedExpectation& expectation);

}  // namespace levee
