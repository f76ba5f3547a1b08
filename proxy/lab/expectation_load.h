// SPDX-License-Identifier: Apache-2.0
// Reads what a scenario expects: "<= 1.1", ">= 99%", "< 5s".
#pragma once

#include <optional>
#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "lab/scenario.h"
#include "levee/lab/v1/scenario.pb.h"

namespace levee {

// Returns the expectation at `path`; nullopt, with a fault, if it cannot be read. `scenario` has
// its services and clients.
std::optional<ScenarioExpectation> ReadExpectation(const std::string& path,
                                                   const lab::v1::Expectation& message,
                                                   const Scenario& scenario,
                                                   const Positions& positions, FaultList& faults);

}  // namespace levee
