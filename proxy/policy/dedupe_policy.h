// SPDX-License-Identifier: Apache-2.0
// Plain values of `guard.dedupe` in a policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "policy/rate_limit_policy.h"

namespace levee {

// The parts of a call that belong to its idempotency key, as to the key of a rate limit: calls that
// differ in them have different keys.
using DedupeScope = std::vector<RateLimitKey>;

struct DedupePolicy {
  // A call with the key of one that has ended gets the stored answer, or a refusal.
  enum class Duplicate { kReplay, kRefuse };
  // A call with the key of one that runs waits for its answer, or is refused.
  enum class InFlight { kWait, kRefuse };
  // A call with the key of a lost one, of which nobody knows whether it ran, is refused, or runs.
  enum class Lost { kRefuse, kRun };
  // A call whose key cannot be stored is refused, or runs.
  enum class StoreFailure { kRefuse, kRun };

  std::string store;                        // its name; empty: keys are those of the sidecar alone
  std::string header = "idempotency-key";  // in lower case
  DedupeScope scope = {RateLimitKey::Method()};
  absl::Duration ttl = absl::Hours(24);     // above zero: how long the outcome is kept
  absl::Duration claim = absl::Minutes(1);  // above zero: then a call without outcome is lost
  Duplicate duplicate = Duplicate::kReplay;
  InFlight in_flight = InFlight::kWait;
  Lost on_lost = Lost::kRefuse;
  StoreFailure on_store_failure = StoreFailure::kRefuse;
  int64_t max_response = 64 << 10;  // bytes: of a longer answer only the status is kept
  int64_t max_bytes = 64 << 20;     // that the store holds
  bool required = false;            // calls without the header are refused
  friend bool operator==(const DedupePolicy&, const DedupePolicy&) = default;
};

}  // namespace levee
