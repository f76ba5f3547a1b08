// SPDX-License-Identifier: Apache-2.0
// Checks the relations between the fields of a policy, or of a sequence of delays.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// As Validate, for the policy or the reconnect at `path`.
void ValidatePolicy(const std::string& path, const config::v1::Policy& policy,
                    const Positions& positions, FaultList& faults);
void ValidateReconnect(const std::string& path, const config::v1::Reconnect& reconnect,
                       const Positions& positions, FaultList& faults);

}  // namespace levee
