// SPDX-License-Identifier: Apache-2.0
// The generic cell rate algorithm (GCRA): a rate limit's bucket in one number.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/lease_request.h"

namespace levee {

// The answer of a bucket for one call.
struct RatePermit {
  bool granted = false;
  // Granted: how long to wait before the permit may be used (zero: at once). Refused: the time
  // until a permit is due for a call that may not wait.
  absl::Duration wait = absl::ZeroDuration();
  // The key shares a bucket with others, because all buckets of its limit are in use.
  bool shared_bucket = false;
  // Return uses it to see whether the bucket has changed since.
  int64_t mark = 0;
  // Of a shared limit. Not granted: the answer is not known before that of the store.
  bool awaits_lease = false;
  LeaseRequest request;  // to be made of the store now; want 0: none
};

// A rate and a burst as positions on a line, on which the position of an instant is the number of
// permits that the rate makes from Instant() till then. Counting time in permits instead of in
// nanoseconds makes a permit the same whole number at every rate, so no rate suffers from the
// rounding of 1 / rate: each is exact to 1 part in 10^15.
//
// Positions are fixed-point numbers with as many fraction bits as leave room for 30 years since
// Instant() (on Linux: since the machine's start) and the burst; after that the limit refuses
// everything. A permit has then at least 4 parts, at 10^9 per second; at 10^6 per second 4096. Due
// times are thus off by less than the clock's nanosecond; where the burst takes more than 30 years
// to fill, by less than 1 part in 2^60 of that time.
//
// Immutable.
class GcraRate {
 public:
  // `per_second`: above zero, at most 10^9; less than one permit in 30 years counts as that much.
  // `burst`: at least 1.
  GcraRate(double per_second, int burst);

  // The position of `t`, rounded down. Stays at kEnd from 30 years on.
  int64_t At(Instant t) const;

  // The first instant whose position is at least `position`, which is above zero.
  Instant Reached(int64_t position) const;

  int64_t permit() const { return permit_; }
  int64_t burst() const { return burst_; }

  static constexpr int64_t kEnd = int64_t{1} << 62;

 private:
  // A nanosecond is factor_ / 2^shift_ long.
  uint64_t factor_;
  int shift_;
  int64_t permit_;
  int64_t burst_;
};

// GCRA as a virtual scheduling algorithm (ITU-T I.371, annex A). The theoretical arrival time moves
// one permit ahead with each permit taken, from now if it lies in the past; a permit is due as soon
// as the new theoretical arrival time is at most `burst` permits ahead of now.
//
// The due times of all permits, in the order in which they were taken, never go backward as long as
// calls wait. In any span at most burst + rate x span permits become due (with the nanosecond to
// which a wait is rounded up), even if the `now` of one worker lags behind another's.
//
// Starts full. Any thread, without locks. All calls of a bucket must pass the same rate.
class Gcra {
 public:
  using Rule = GcraRate;

  explicit Gcra(const GcraRate&) {}

  // Takes a permit if it is due within `max_wait` (negative: never); a refusal changes nothing.
  RatePermit Take(const GcraRate& rate, Instant now, absl::Duration max_wait);

  // Returns the answer of Take, without taking anything.
  RatePermit Check(const GcraRate& rate, Instant now, absl::Duration max_wait) const;

  // Undoes a Take. If other calls have taken permits since then, the permit is lost: their due
  // times stand, and giving the gap away would break the bound above.
  void Return(const GcraRate& rate, const RatePermit& permit);

  // True if the bucket is full: it then remembers nothing that a new one would not.
  bool IdleAt(const GcraRate& rate, Instant now) const;

 private:
  static RatePermit Decide(const GcraRate& rate, int64_t arrival, Instant now,
                           absl::Duration max_wait);

  std::atomic<int64_t> arrival_{0};  // the theoretical arrival time, as a position
};

}  // namespace levee
