// SPDX-License-Identifier: Apache-2.0
// What callers' sidecars said of late about their retries.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/instant.h"
#include "policy/retry_distribution.h"
#include "policy/slot_ring.h"
#include "wire/retry_report.h"

namespace levee {

// The calls that reports speak for, and how many of them are retries that were wanted.
struct ReportedCalls {
  int64_t calls = 0;
  int64_t wanted_ppm = 0;  // millionths of a call

  double Wanted() const { return static_cast<double>(wanted_ppm) / 1'000'000; }
  double Share() const { return calls == 0 ? 0 : Wanted() / static_cast<double>(calls); }

  ReportedCalls& operator+=(const ReportedCalls& other) {
    calls += other.calls;
    wanted_ppm += other.wanted_ppm;
    return *this;
  }
};

// The reports of the last ten seconds. A report speaks for the calls that its connection has
// brought since the one before. So a caller weighs what its calls weigh, whatever numbers it
// reports. One thread at a time.
class ReportedRetries {
 public:
  // `calls`: as many the report speaks for.
  void Add(const RetryReport& report, int64_t calls, Instant now) {
    Slot& slot = SlotOf(now);
    slot.reported +=
        {.calls = calls, .wanted_ppm = std::llround(WantedShare(report) * 1'000'000) * calls};
  }

  // Returns all of them together.
  ReportedCalls Total(Instant now) const {
    const uint64_t newest = SlotAt(now, RetryDistribution::kSlotNanos);
    ReportedCalls total;
    for (const Slot& slot : slots_) {
      if (slot.number + RetryDistribution::kSlots >= newest) total += slot.reported;
    }
    return total;
  }

 private:
  struct Slot {
    uint64_t number = 0;
    ReportedCalls reported;
  };

  Slot& SlotOf(Instant now) {
    const uint64_t number = SlotAt(now, RetryDistribution::kSlotNanos);
    Slot& slot = slots_[number % slots_.size()];
    if (slot.number != number) slot = {.number = number};
    return slot;
  }

  std::array<Slot, RetryDistribution::kSlots + 1> slots_;
};

}  // namespace levee
