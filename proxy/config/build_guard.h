// SPDX-License-Identifier: Apache-2.0
// Builds the plain values of a guard from its checked message.
#pragma once

#include "levee/config/v1/config.pb.h"
#include "policy/guard_policy.h"

namespace levee {

// The message must be complete and without fault.
GuardPolicy BuildGuard(const config::v1::Guard& message);

}  // namespace levee
