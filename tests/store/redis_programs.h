// SPDX-License-Identifier: Apache-2.0
// The programs of Redis, where a Debian system has them.
#pragma once

namespace levee {

inline constexpr char kRedisServer[] = "/usr/bin/redis-server";
inline constexpr char kRedisClient[] = "/usr/bin/redis-cli";

}  // namespace levee
