// SPDX-License-Identifier: Apache-2.0
#include "store/sidecar_count.h"

#include <string_view>

namespace levee {
namespace {

constexpr std::string_view kCountBody = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
)lua";

}  // namespace

const RedisScript& SidecarCountScript() {
  static const RedisScript script(kCountBody);
  return script;
}

}  // namespace levee
