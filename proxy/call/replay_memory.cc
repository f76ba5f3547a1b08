// SPDX-License-Identifier: Apache-2.0
#include "call/replay_memory.h"

#include <algorithm>

#include "base/check.h"

namespace levee {

ReplayLease::~ReplayLease() { memory_.free_.fetch_add(leased_, std::memory_order_relaxed); }

// A unit, or less where little is left, so that other workers find some, too.
bool ReplayLease::LeaseMore(int64_t bytes) {
  int64_t free = memory_.free_.load(std::memory_order_relaxed);
  int64_t take;
  do {
    if (free < bytes) return false;
    take = std::max(bytes, std::min(kUnit, free / 8));
  } while (!memory_.free_.compare_exchange_weak(free, free - take, std::memory_order_relaxed));
  leased_ += take;
  return true;
}

// `spare`: what the worker has left of its lease then; less than 0 if it has to lease more.
bool ReplayLease::MayKeep(int64_t by_caller, int64_t by_call, int64_t spare) const {
  if (by_caller <= kSmallCaller) return true;
  const int64_t left = spare + memory_.free_.load(std::memory_order_relaxed);
  const int64_t total = memory_.total_.load(std::memory_order_relaxed);
  return left >= total / (by_call <= kSmallCall ? 8 : 4);
}

bool ReplayLease::Take(uint64_t sender, int64_t held, int64_t bytes) {
  const int64_t used = used_.load(std::memory_order_relaxed) + bytes;
  int64_t& share = ShareOf(sender);
  if (!MayKeep(share + bytes, held + bytes, leased_ - used)) return false;
  if (used > leased_ && !LeaseMore(used - leased_)) return false;
  share += bytes;
  used_.store(used, std::memory_order_relaxed);
  return true;
}

void ReplayLease::Give(uint64_t sender, int64_t bytes) {
  const int64_t used = used_.load(std::memory_order_relaxed) - bytes;
  int64_t& share = ShareOf(sender);
  LEVEE_CHECK(used >= 0 && share >= bytes);
  share -= bytes;
  used_.store(used, std::memory_order_relaxed);
  // One unit stays, so that a call that comes and goes at the edge leases nothing anew.
  const int64_t spare = leased_ - used - kUnit;
  if (spare < kUnit) return;
  leased_ -= spare;
  memory_.free_.fetch_add(spare, std::memory_order_relaxed);
}

}  // namespace levee
