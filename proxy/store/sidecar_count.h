// SPDX-License-Identifier: Apache-2.0
// How many sidecars share something.
#pragma once

#include "store/redis_script.h"

namespace levee {

// Shows in the sorted set KEYS[1] that the sidecar ARGV[1] is there, and returns how many have been
// there in the last ARGV[2] milliseconds, by Redis' own clock.
const RedisScript& SidecarCountScript();

}  // namespace levee
