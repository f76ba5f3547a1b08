// SPDX-License-Identifier: Apache-2.0
#include "call/replay_memory.h"

#include <algorithm>

#include "base/check.h"

namespace levee {

ReplayLease::~ReplayLease() { memory_.free_.fetch_add(leased_, std::memory_order_relaxed); }

bool ReplayLease::LeaseMore(int64_t bytes) {
  int64_t free = memory_.free_.load(std::memory_order_relaxed);
  int64_t take;
  do {
    if (free < bytes) return false;
    take = std::min(free, std::max(bytes, kUnit));
  } while (!memory_.free_.compare_exchange_weak(free, free - take, std::memory_order_relaxed));
  leased_ += take;
  return true;
}

bool ReplayLease::Take(int64_t bytes) {
  const int64_t used = used_.load(std::memory_order_relaxed);
  const int64_t missing = used + bytes - leased_;
  if (missing > 0 && !LeaseMore(missing)) return false;
  used_.store(used + bytes, std::memory_order_relaxed);
  return true;
}

void ReplayLease::Give(int64_t bytes) {
  const int64_t used = used_.load(std::memory_order_relaxed) - bytes;
  LEVEE_CHECK(used >= 0);
  used_.store(used, std::memory_order_relaxed);
  // One unit stays, so that a call that comes and goes at the edge leases nothing anew.
  const int64_t spare = leased_ - used - kUnit;
  if (spare < kUnit) return;
  leased_ -= spare;
  memory_.free_.fetch_add(spare, std::memory_order_relaxed);
}

}  // namespace levee
