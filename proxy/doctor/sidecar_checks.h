// SPDX-License-Identifier: Apache-2.0
// Checks of a sidecar that runs, by what it says of itself. Pure.
#pragma once

#include "absl/time/time.h"
#include "doctor/finding.h"
#include "doctor/sidecar_facts.h"

namespace levee::doctor {

// Clocks that differ by more are warned of: the times of logs and traces then do not fit.
inline constexpr absl::Duration kClockDiffers = absl::Seconds(5);

// Returns the findings in the order of their codes, LD102 to LD129.
Findings CheckSidecar(const SidecarFacts& facts);

}  // namespace levee::doctor
