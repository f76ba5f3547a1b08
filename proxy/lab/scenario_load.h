// SPDX-License-Identifier: Apache-2.0
// Reads a scenario, and the policy files that it names.
#pragma once

#include <memory>
#include <vector>

#include "config/load.h"
#include "lab/scenario.h"

namespace levee {

// Either a scenario or the faults, each with its place; also those of the policy files.
struct CheckedScenario {
  Scenario scenario;  // whole iff there are no faults
  std::vector<Fault> faults;
};

// Reads the scenario `text`. `config`, if it is not nullptr, takes the place of the policy file of
// every caller that has a sidecar.
CheckedScenario CheckScenario(const ConfigText& text, std::shared_ptr<const Snapshot> config);

}  // namespace levee
