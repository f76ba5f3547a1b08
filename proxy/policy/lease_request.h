// SPDX-License-Identifier: Apache-2.0
// What a sidecar and the store of a shared rate limit say to each other.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace levee {

// A sidecar's question to the store.
struct LeaseRequest {
  int64_t want = 0;  // permits; 0: it asks for nothing
  // Permits of an earlier lease that nobody will use. Below zero: that many were used without a
  // lease while the store was away, and the store is to count them.
  int64_t refund = 0;

  friend bool operator==(const LeaseRequest&, const LeaseRequest&) = default;
};

// The store's answer.
struct LeaseGrant {
  int64_t granted = 0;
  absl::Duration wait = absl::ZeroDuration();  // until the store has the next permit
};

}  // namespace levee
