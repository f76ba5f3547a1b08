// SPDX-License-Identifier: Apache-2.0
// What was asked of each store in the last seconds.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "telemetry/store_totals.h"

namespace levee {

// Not thread-safe: the owner updates it once a second and answers readers under a lock of its own.
// The class reads no clock.
class StoreRecord {
 public:
  static constexpr uint32_t kSeconds = 10;

  // Takes the state of the counters at second `second`, which grows from call to call.
  void Update(uint32_t second, const std::vector<StoreTotals>& totals);

  // Requests that are counted until the next Update are of no interest.
  void Forget() { looks_.clear(); }

  struct Past {
    uint32_t seconds = 1;  // kSeconds, or more if seconds were left out
    StoreTotals added;     // in these
  };
  // Zeros of a store that is not known.
  Past Read(const std::string& store) const;

 private:
  struct Look {
    uint32_t second;
    std::map<std::string, StoreTotals> totals;
  };

  std::deque<Look> looks_;  // of the last kSeconds, and the one before these
};

}  // namespace levee
