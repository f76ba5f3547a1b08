// SPDX-License-Identifier: Apache-2.0
// Permits that were leased in batches and are not used yet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/instant.h"

namespace levee {

// The permits go first that expire first. One thread.
class LeasedPermits {
 public:
  int64_t left() const { return left_; }

  // As left() after Expire.
  int64_t LeftAt(Instant now) const {
    int64_t left = left_;
    for (const Batch& batch : batches_) {
      if (now < batch.expires) break;
      left -= batch.permits;
    }
    return left;
  }

  // They can be used until `expires`.
  void Add(int64_t permits, Instant expires);

  // Adds one that expires with the oldest; `expires`: if there is none.
  void AddToOldest(Instant expires) {
    if (batches_.empty()) return Add(1, expires);
    ++batches_.front().permits;
    ++left_;
  }

  // At most left().
  void Remove(int64_t permits) {
    left_ -= permits;
    while (permits > 0) {
      Batch& oldest = batches_.front();
      const int64_t some = std::min(permits, oldest.permits);
      permits -= some;
      oldest.permits -= some;
      if (oldest.permits == 0) batches_.erase(batches_.begin());
    }
  }

  void Expire(Instant now) {
    while (!batches_.empty() && now >= batches_.front().expires) {
      left_ -= batches_.front().permits;
      batches_.erase(batches_.begin());
    }
  }

 private:
  struct Batch {
    int64_t permits;
    Instant expires;
  };

  absl::InlinedVector<Batch, 4> batches_;  // the one that expires first is first, none empty
  int64_t left_ = 0;                       // permits of all batches
};

}  // namespace levee
