// SPDX-License-Identifier: Apache-2.0
// The bucket that Redis keeps for all sidecars of a shared rate limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "policy/permit_lease.h"
#include "store/redis_protocol.h"
#include "store/redis_script.h"

namespace levee {

// GCRA on one key, by Redis' own clock, so that the clocks of the sidecars do not matter. The key
// goes when the bucket is full, since it then says nothing. Tell KEYS[1] and the arguments below.
const RedisScript& LeaseScript();

// Returns the key of a bucket. `limit`: the limit's name. `key`: the text of the calls' key, any
// bytes; a long one is replaced by its digest. `shared_bucket`: of the keys that have none of their
// own.
std::string LeaseKey(std::string_view prefix, std::string_view limit, std::string_view key,
                     bool shared_bucket);

// Returns the arguments of the script.
std::vector<std::string> LeaseArguments(const LeaseRule& rule, const LeaseRequest& request);

// Reads the script's reply to a request for `want` permits, of which it never grants more; an error
// reply, or another one, is an error.
absl::StatusOr<LeaseGrant> ReadLeaseReply(const RedisReply& reply, int64_t want);

}  // namespace levee
