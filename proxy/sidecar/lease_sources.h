// SPDX-License-Identifier: Apache-2.0
// Where limits that sidecars share get their permits.
#pragma once

#include <memory>
#include <utility>

#include "policy/rate_limiter.h"

namespace levee {

// Hands each request to the one that keeps the limit. Any thread.
class LeaseSources final : public LeaseSource {
 public:
  // Both outlive it.
  LeaseSources(LeaseSource& stores, LeaseSource& services) : stores_(stores), services_(services) {}

  void Ask(Bucket bucket, const LeaseRequest& request) override {
    const std::shared_ptr<RateLimiter> limit = bucket.limiter.lock();
    if (limit == nullptr) return;
    const bool service = limit->policy().shared->service.has_value();
    (service ? services_ : stores_).Ask(std::move(bucket), request);
  }

 private:
  LeaseSource& stores_;
  LeaseSource& services_;
};

}  // namespace levee
