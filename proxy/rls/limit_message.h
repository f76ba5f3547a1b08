// SPDX-License-Identifier: Apache-2.0
// The messages of a rate limit service (envoy.service.ratelimit.v3), as bytes of a gRPC stream.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "policy/lease_request.h"
#include "policy/limit_key.h"

namespace levee {

// The path of the method that is called.
inline constexpr std::string_view kShouldRateLimit =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

// Returns a request for `hits` permits, at least 1, with one descriptor, in gRPC's frame. Bytes of
// entries that are not UTF-8 become '?', since receivers refuse a message with them.
std::string LimitRequestFrame(std::string_view domain, std::span<const LimitKey::Entry> descriptor,
                              int64_t hits);

// Reads the answer to a request for `hits` permits out of its frame: all are granted, or none.
// Internal: the bytes are no answer.
absl::StatusOr<LeaseGrant> ReadLimitResponse(std::string_view frame, int64_t hits);

}  // namespace levee
