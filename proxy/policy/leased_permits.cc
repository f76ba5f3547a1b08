// SPDX-License-Identifier: Apache-2.0
#include "policy/leased_permits.h"

#include <algorithm>

namespace levee {

void LeasedPermits::Add(int64_t permits, Instant expires) {
  if (permits <= 0) return;
  left_ += permits;
  const auto later =
      std::upper_bound(batches_.begin(), batches_.end(), expires,
                       [](Instant at, const Batch& batch) { return at < batch.expires; });
  batches_.insert(later, {permits, expires});
}

}  // namespace levee
