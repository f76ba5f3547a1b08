// SPDX-License-Identifier: Apache-2.0
// Checks stores, and what is kept in them.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports names and addresses of stores and rate limit services that cannot be theirs, and rate
// limits that contradict themselves, or name a store that is not there, as keys may.
void ValidateStores(const config::v1::Config& config, const Positions& positions,
                    FaultList& faults);

}  // namespace levee
