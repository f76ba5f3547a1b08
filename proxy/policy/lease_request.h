// SPDX-License-Identifier: Apache-2.0
// What a sidecar and the store of a shared rate limit say to each other, and what a bucket of such
// a limit says to a call.
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

// The window that runs, as a rate limit service that counts in windows tells of it.
struct ServiceWindow {
  int64_t limit = 0;      // permits of every window; 0: not told
  int64_t remaining = 0;  // of this one, if `limit` is told
  // Until the next one begins; zero: not told.
  absl::Duration resets_in = absl::ZeroDuration();

  friend bool operator==(const ServiceWindow&, const ServiceWindow&) = default;
};

// The store's answer.
struct LeaseGrant {
  int64_t granted = 0;
  absl::Duration wait = absl::ZeroDuration();  // until the store has the next permit
  ServiceWindow window;                        // of a rate limit service
};

enum class LeaseVerdict : uint8_t { kAdmitted, kAwaitsLease, kRefused };

// The answer of a bucket whose permits are leased.
struct LeaseDecision {
  LeaseVerdict verdict = LeaseVerdict::kRefused;
  // Refused: until the bucket can have a permit again.
  absl::Duration wait = absl::ZeroDuration();
  LeaseRequest request;  // to be made now; want 0: none
};

// The state of a bucket whose permits are leased.
struct LeaseHolding {
  int64_t permits_left = 0;
  // Permits per second that the sidecar allows itself while the store is away; 0: the store is
  // there, or no rate decides.
  double own_rate = 0;
};

}  // namespace levee
