// SPDX-License-Identifier: Apache-2.0
// The load of one endpoint, as far as its callers can tell.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/endpoint_silence.h"
#include "policy/success_share.h"

namespace levee {

// The cost is what a call there is likely to cost: latency, failures and silence in one number. A
// call that fails has to be made again elsewhere, so an endpoint of which half of the calls succeed
// costs twice as much; one that owes an answer costs as much as it has been silent.
//
// The latency is estimated by the peak EWMA of Finagle ("Beyond Round Robin", Twitter 2016) and
// linkerd2-proxy. A latency above the estimate replaces it at once; one below it does so only in
// the course of the decay. Without anything to measure the estimate decays to zero, so that a slow
// endpoint is tried again. It does not decay while the endpoint owes an answer, or its last attempt
// has failed.
//
// The decay is kLeastDecay as long as the estimate rests on one answer, which may have been a
// chance: an endpoint that took a thousand times as long as the others, once, gets calls again
// after two seconds. Each later answer that confirms the estimate, within a factor of two, makes
// the decay four times as long, up to kDecay.
//
// A value without clock; one thread; `now` never goes backward.
class EndpointLoad {
 public:
  static constexpr int64_t kLeastDecayNanos = 250'000'000;
  static constexpr absl::Duration kLeastDecay = absl::Nanoseconds(kLeastDecayNanos);
  static constexpr absl::Duration kDecay = absl::Seconds(10);
  static constexpr absl::Duration kLongestYield = absl::Seconds(60);
  static constexpr absl::Duration kSlowStart = absl::Seconds(10);

  // An attempt has ended whose answer began after `latency`.
  void RecordLatency(absl::Duration latency, Instant now);

  // An attempt was given up after `waited` without an answer: its latency would have been longer.
  // (The time that a failure took is no latency.)
  void RecordGivenUp(absl::Duration waited, Instant now);

  // Returns the cost of one more call here, in nanoseconds: the latency, or the silence of one that
  // is overdue, times the number of calls there would then be, by the share that succeeds.
  double Cost(int active, Instant now) const;
  // The same where a latency is unknown: in calls.
  double CallsCost(int active, Instant now) const {
    return static_cast<double>(active + 1) / successes_.Expected(now);
  }
  // The estimate of the latency, in nanoseconds.
  double Estimate(Instant now) const { return estimate_ * Kept(now); }

  // False until the first answer, and again after Restart.
  bool known() const { return estimate_ > 0; }

  // An attempt goes there.
  void RecordAttempt(Instant now) { silence_.OnAttempt(now); }
  // It answered something, if only with a failure.
  void RecordLife(Instant now) { silence_.OnLife(now); }
  // No attempt is out any more.
  void RecordIdle(Instant now) { silence_.OnIdle(now); }
  // An attempt ended.
  void RecordEnd(bool success, Instant now) { successes_.Record(success, now); }

  const EndpointSilence& silence() const { return silence_; }
  const SuccessShare& successes() const { return successes_; }

  // It has owed an answer for much longer than is usual there, and for more than a second.
  bool Overdue(Instant now) const {
    return silence_.Nanos(now) > kUsualNanos && IsLong(silence_.Nanos(now), now);
  }

  // The endpoint comes back, or is new among others that serve. Its latency is unknown, and for
  // kSlowStart it gets only a share of its calls.
  void Restart(Instant now);

  // The endpoint asks callers to stay away for `wait`, by a pushback or Retry-After: for that time,
  // at most kLongestYield, it gets only a tenth of its calls.
  void Yield(absl::Duration wait, Instant now);

  // Returns the share of its calls that it gets. It grows from a tenth to 1 in a slow start, and is
  // 1 otherwise.
  double Share(Instant now) const {
    return now >= slow_until_ && now >= yields_until_ ? 1 : PartShare(now);
  }

 private:
  // Everywhere an answer may take so long.
  static constexpr int64_t kUsualNanos = 1'000'000'000;

  bool IsLong(int64_t silence_nanos, Instant now) const;
  double Kept(Instant now) const;
  double PartShare(Instant now) const;

  double estimate_ = 0;  // nanoseconds, at updated_; 0: unknown
  Instant updated_;
  double decay_ = kLeastDecayNanos;
  Instant learnt_at_;  // when the decay was last set
  Instant slow_until_;
  Instant yields_until_;
  EndpointSilence silence_;
  SuccessShare successes_;
};

}  // namespace levee
