// SPDX-License-Identifier: Apache-2.0
// What people are shown of a rate limit that sidecars share.
#pragma once

#include <string>

#include "insight/limit_view.h"
#include "policy/rate_limiter.h"
#include "telemetry/series.h"

namespace levee {

// Returns the state as metrics name it.
LeaseState StateOf(PermitLease::State state);

// `policy`: the name of the policy that has the limit. `view`: of its limiter.
LimitView ShownLimit(const std::string& policy, const RateLimitPolicy& limit,
                     const RateLimiter::View& view);

}  // namespace levee
