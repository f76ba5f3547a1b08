// SPDX-License-Identifier: Apache-2.0
// Checks what a configuration says of calls to the application: guards, and the routes of inbound
// listeners.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// `config` has its defaults. References that dangle are passed over; Validate reports them.
void ValidateInbound(const config::v1::Config& config, const Positions& positions,
                     FaultList& faults);

// Checks the guard at `path`, which has its defaults.
void ValidateGuard(const std::string& path, const config::v1::Guard& guard,
                   const Positions& positions, FaultList& faults);

}  // namespace levee
