// SPDX-License-Identifier: Apache-2.0
// Finds dangers in one policy, independent of its use.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/known_parts.h"
#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// As FindWarnings, for the policy at `path`. `described`: the policy is used for methods that a
// descriptor set calls idempotent.
void FindPolicyWarnings(const std::string& path, const config::v1::Policy& policy, bool described,
                        const Positions& positions, const KnownParts& known, FaultList& warnings);

// Returns the field that lets the policy repeat a call after its request has left, such as "codes",
// although nothing says that the call may run twice; empty if there is none.
std::string UnsafeRetries(const config::v1::Policy& policy);

}  // namespace levee
