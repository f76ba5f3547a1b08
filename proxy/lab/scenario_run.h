// SPDX-License-Identifier: Apache-2.0
// Runs a scenario once, on virtual time, with the product's own calls, budgets and choice of
// endpoints.
#pragma once

#include <cstdint>

#include "lab/caller_rule.h"
#include "lab/run_record.h"
#include "lab/scenario.h"

namespace levee {

// The same scenario, rule and seed give the same record.
RunRecord RunScenario(const Scenario& scenario, CallerRule rule, uint64_t seed);

}  // namespace levee
