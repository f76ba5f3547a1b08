// SPDX-License-Identifier: Apache-2.0
// Whether a sidecar reaches its targets.
#pragma once

#include "doctor/finding.h"
#include "doctor/sidecar_facts.h"

namespace levee::doctor {

// Returns the findings LD107: what the sidecar says of the endpoints that it has dialled, and what
// dialling the others has given.
Findings CheckTargets(const SidecarFacts& facts);

}  // namespace levee::doctor
