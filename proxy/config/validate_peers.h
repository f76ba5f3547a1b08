// SPDX-License-Identifier: Apache-2.0
// Checks what a configuration makes depend on the names of callers.
#pragma once

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Reports routes and rate limits that ask for the name of a caller where no caller shows a
// certificate. `config` has been completed by FieldChecker.
void ValidatePeers(const config::v1::Config& config, const Positions& positions, FaultList& faults);

}  // namespace levee
