// SPDX-License-Identifier: Apache-2.0
// The sums of an upstream's calls since the start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "telemetry/histogram.h"
#include "telemetry/series.h"
#include "wire/refusal.h"

namespace levee {

// The sums are over all methods and workers. The counters are read one after the other while calls
// go on, so two of them may differ by the calls that end in between. Above 20 data members: each is
// one sum.
struct UpstreamTotals {
  std::string upstream;
  uint64_t calls = 0;  // that ended
  // Of `calls`, those that ended as CANCELLED. Such a call says nothing about the upstream, because
  // the caller did not wait for the answer.
  uint64_t calls_cancelled = 0;
  uint64_t calls_ok = 0;            // of the others, those whose code is not an IsServerFault
  uint64_t attempted = 0;           // of the calls, those that had an attempt
  uint64_t attempts = 0;            // that ended
  uint64_t attempts_cancelled = 0;  // of `attempts`; hedges that another attempt overtook included
  uint64_t attempts_ok = 0;         // of the others
  uint64_t retries = 0;             // Levee's own, hedges and transparent ones included
  uint64_t app_retries_admitted = 0;
  uint64_t app_retries_refused = 0;
  uint64_t rate_limited = 0;       // calls that a limit of their policy refused
  uint64_t throttle_rejected = 0;  // calls that the throttle did not send
  uint64_t throttle_observed = 0;  // calls that an enforcing throttle would not have sent
  uint64_t waits_released = 0;     // retries that waited for a success, and began
  uint64_t waits_expired = 0;      // that waited in vain, and were refused as by the budget
  uint64_t waits_cancelled = 0;    // whose call ended while they waited
  uint64_t marks_received = 0;     // of any scope
  uint64_t marks_sent = 0;
  uint64_t guard_admitted = 0;                          // calls that found a slot of the guard
  uint64_t guard_queued = 0;                            // that waited for one, and got it or left
  std::array<uint64_t, kGuardReasons> guard_refused{};  // that it refused, or would have
  std::array<uint64_t, kArrivalClasses> guard_arrivals{};  // by the attempts made before
  std::array<uint64_t, kRefusalReasons> refused{};         // retries that were wanted but not made
  std::array<uint64_t, Histogram<kDurationBounds>::kBuckets> durations{};  // of calls

  // The calls and attempts that count when the share of successful ones is computed.
  uint64_t calls_judged() const { return calls - calls_cancelled; }
  uint64_t attempts_judged() const { return attempts - attempts_cancelled; }
};

}  // namespace levee
