// SPDX-License-Identifier: Apache-2.0
// Builds the plain values of a guard from its checked message.
#pragma once

#include <string_view>

#include "levee/config/v1/config.pb.h"
#include "policy/dedupe_policy.h"
#include "policy/guard_policy.h"

namespace levee {

// The messages must be complete and without fault.
GuardPolicy BuildGuard(const config::v1::Guard& message);

// In place of a store's name: keys are kept in the sidecar.
inline constexpr std::string_view kMemoryStore = "memory";

DedupePolicy BuildDedupe(const config::v1::Guard::Dedupe& message);

}  // namespace levee
