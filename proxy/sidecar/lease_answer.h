// SPDX-License-Identifier: Apache-2.0
// What the request for a bucket's permits has brought.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "base/instant.h"
#include "policy/rate_limiter.h"

namespace levee {

// Tells it to the bucket's limit, unless that is gone. Returns whether calls waited for it.
inline bool TellLimit(const LeaseSource::Bucket& bucket, const absl::StatusOr<LeaseGrant>& answer,
                      Instant now) {
  const std::shared_ptr<RateLimiter> limit = bucket.limiter.lock();
  if (limit == nullptr) return false;
  return answer.ok() ? limit->OnGrant(bucket, *answer, now) : limit->OnLost(bucket, now);
}

}  // namespace levee
