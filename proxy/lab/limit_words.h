// SPDX-License-Identifier: Apache-2.0
// Sentences about rate limits, the throttle and the guard of a policy.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/retry_policy.h"

namespace levee {

// The facts of a call that rate limits and guards look at; those that are not known are not given.
struct KeyFacts {
  std::optional<std::string> method;                         // its path
  std::optional<std::string> authority;                      // that it is routed by
  std::optional<std::string> peer;                           // its caller's name
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
};

// One sentence for each limit: its rate, the bucket of this call, and what happens above the rate.
std::vector<std::string> RateLimitWords(const std::vector<RateLimitPolicy>& limits,
                                        const KeyFacts& call);

std::vector<std::string> ThrottleWords(const std::optional<ThrottlePolicy>& throttle);

std::vector<std::string> GuardWords(const GuardPolicy& guard, const KeyFacts& call);

// Nothing of a policy without a store of idempotency keys.
std::vector<std::string> DedupeWords(const std::optional<DedupePolicy>& dedupe,
                                     const KeyFacts& call);

}  // namespace levee
