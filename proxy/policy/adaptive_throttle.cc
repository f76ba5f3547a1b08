// SPDX-License-Identifier: Apache-2.0
#include "policy/adaptive_throttle.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "policy/slot_ring.h"

namespace levee {
namespace {

constexpr absl::Duration kProbeEvery = absl::Seconds(1);

}  // namespace

// The counts of one worker, on cache lines of their own.
struct alignas(64) AdaptiveThrottle::Shard {
  SlotRing<kSlots> accepts;
  SlotRing<kSlots> overloads;
  SlotRing<kSlots> rejected;
  SlotCursor cursor;
};

AdaptiveThrottle::AdaptiveThrottle(const ThrottlePolicy& policy, int workers)
    : policy_(policy),
      slot_nanos_(SlotNanos(policy.window, kSlots)),
      workers_(workers),
      shards_(std::make_unique<Shard[]>(static_cast<size_t>(workers))) {
  LEVEE_CHECK(workers >= 1);
}

AdaptiveThrottle::~AdaptiveThrottle() = default;

ThrottleDecision AdaptiveThrottle::DecideInTrouble(int worker, Random& random, Instant now) {
  const double probability = Probability(now);
  if (probability <= 0 || random.Uniform() >= probability || TakeProbe(now)) {
    return ThrottleDecision::kAdmitted;
  }
  if (policy_.mode == ThrottleMode::kObserve) return ThrottleDecision::kObserved;
  Shard& shard = shards_[worker];
  shard.rejected.Add(shard.cursor.At(now, slot_nanos_));
  NoteTrouble(now);
  return ThrottleDecision::kRejected;
}

void AdaptiveThrottle::OnEnd(int worker, bool overload, Instant now) {
  Shard& shard = shards_[worker];
  (overload ? shard.overloads : shard.accepts).Add(shard.cursor.At(now, slot_nanos_));
  if (overload) NoteTrouble(now);
}

AdaptiveThrottle::Counts AdaptiveThrottle::Count(uint64_t slot, uint64_t before) const {
  Counts counts;
  for (int i = 0; i < workers_; ++i) {
    counts.accepts += shards_[i].accepts.Count(slot, before);
    counts.overloads += shards_[i].overloads.Count(slot, before);
    counts.rejected += shards_[i].rejected.Count(slot, before);
  }
  return counts;
}

double AdaptiveThrottle::Surplus(const Counts& counts) const {
  const auto requests = static_cast<double>(counts.accepts + counts.overloads + counts.rejected);
  const double surplus = requests - policy_.k * static_cast<double>(counts.accepts);
  return std::max(0.0, surplus / (requests + 1));
}

double AdaptiveThrottle::Probability(Instant now) const {
  const uint64_t slot = SlotAt(now, slot_nanos_);
  const Counts window = Count(slot, kSlots);
  if (window.accepts + window.overloads + window.rejected < policy_.min_calls) return 0;
  const Counts latest = Count(slot, kLatestSlots);
  const bool recovers = latest.accepts > 0 && latest.overloads == 0;
  return recovers ? std::min(Surplus(window), Surplus(latest)) : Surplus(window);
}

// Remembers until when an event of now is in the window. That is the same for all of a slot, so
// only its first event writes.
void AdaptiveThrottle::NoteTrouble(Instant now) {
  const int64_t until = (now.nanos() / slot_nanos_ + kSlots + 1) * slot_nanos_;
  int64_t known = quiet_from_.load(std::memory_order_relaxed);
  while (known < until &&
         !quiet_from_.compare_exchange_weak(known, until, std::memory_order_relaxed)) {
  }
}

// Returns true for one caller a second.
bool AdaptiveThrottle::TakeProbe(Instant now) {
  int64_t next = next_probe_.load(std::memory_order_relaxed);
  return now.nanos() >= next && next_probe_.compare_exchange_strong(
                                    next, (now + kProbeEvery).nanos(), std::memory_order_relaxed);
}

}  // namespace levee
