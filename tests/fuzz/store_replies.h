// SPDX-License-Identifier: Apache-2.0
// Replies of Redis and answers of rate limit services, from a fuzzer's input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/byte_source.h"
#include "store/redis_protocol.h"

namespace levee {

// Returns the first reply in bytes that the input has, or that it makes by a grammar of what the
// client knows; nullopt: it is none. Aborts if the replies depend on the pieces in which their
// bytes come. `slot`: the one that redirections mostly name.
std::optional<RedisReply> NextReply(ByteSource& source, uint16_t slot);

// Returns a message in gRPC's frame, mostly.
std::string NextAnswer(ByteSource& source);

}  // namespace levee
