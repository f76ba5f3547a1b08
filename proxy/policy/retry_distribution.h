// SPDX-License-Identifier: Apache-2.0
// How often calls of late had been tried before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/instant.h"
#include "policy/slot_ring.h"
#include "wire/retry_report.h"

namespace levee {

inline int64_t Sum(const AttemptCounts& counts) {
  int64_t all = 0;
  for (const int64_t count : counts) all += count;
  return all;
}

// Returns the share of calls that are retries, 0 to 1; 0 if there are none.
inline double RetryShare(const AttemptCounts& counts) {
  const int64_t all = Sum(counts);
  return all == 0 ? 0 : static_cast<double>(all - counts[0]) / static_cast<double>(all);
}

// The calls of the last ten seconds. One worker counts, any thread reads.
class RetryDistribution {
 public:
  static constexpr int kSlots = 10;
  static constexpr int64_t kSlotNanos = 1'000'000'000;

  // A call arrived whose grpc-previous-rpc-attempts is `previous`, at least 0.
  void Add(int previous, Instant now) {
    const uint64_t slot = cursor_.At(now, kSlotNanos);
    calls_[static_cast<size_t>(std::min(previous, kAttemptClasses - 1))].Add(slot);
  }

  // Adds what was counted to `counts`.
  void AddTo(AttemptCounts& counts, Instant now) const {
    const uint64_t slot = SlotAt(now, kSlotNanos);
    for (size_t i = 0; i < calls_.size(); ++i) counts[i] += calls_[i].Count(slot);
  }

 private:
  SlotCursor cursor_;
  std::array<SlotRing<kSlots>, kAttemptClasses> calls_;
};

// The attempts of a sidecar towards one destination in the last ten seconds, and the retries that
// it wanted and did not make. One thread.
class RetryHistory {
 public:
  // An attempt begins, whose grpc-previous-rpc-attempts is `previous`.
  void AddAttempt(int previous, Instant now) { attempts_.Add(previous, now); }
  void AddRefused(Instant now) { refused_.Add(SlotAt(now, RetryDistribution::kSlotNanos)); }

  RetryReport Report(Instant now) const {
    RetryReport report;
    attempts_.AddTo(report.attempts, now);
    report.refused = refused_.Count(SlotAt(now, RetryDistribution::kSlotNanos));
    return report;
  }

 private:
  RetryDistribution attempts_;
  SlotRing<RetryDistribution::kSlots> refused_;
};

}  // namespace levee
