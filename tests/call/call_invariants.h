// SPDX-License-Identifier: Apache-2.0
// Rules that hold for every call, whatever its policy, its caller and its upstream do.
#pragma once

#include <map>

#include "sim/sim_admission.h"
#include "sim/sim_host.h"
#include "sim/sim_sidecar.h"

namespace levee {

// The input with which each call of a sidecar was started.
using FactsOfCalls = std::map<const SimHost*, RequestFacts>;

// Attempts are within the budget. At any time; a failed check is a failure of the current test.
void CheckBudget(SimSidecar& sidecar);

// Each call that has ended is what its descriptor says, whatever came of it, or else a stream if
// its request has had a second message. At any time.
void CheckKinds(const SimSidecar& sidecar);

// Once every call has ended: nothing is left of them, and each was carried as its policy allows.
void CheckEnded(SimSidecar& sidecar, const FactsOfCalls& facts);

// The same of `admission`, if it admitted the calls: those that began were charged, and no others.
void CheckAdmission(const SimSidecar& sidecar, const SimAdmission& admission);

}  // namespace levee
