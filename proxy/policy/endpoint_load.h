// SPDX-License-Identifier: Apache-2.0
// The load of one endpoint, as far as its callers can tell.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// The peak EWMA of Finagle ("Beyond Round Robin", Twitter 2016) and linkerd2-proxy. A latency above
// the estimate replaces it at once; one below it does so only in the course of kDecay. Without
// anything to measure the estimate decays to zero, so that a slow endpoint is tried again. A value
// without clock; one thread; `now` never goes backward.
class EndpointLoad {
 public:
  static constexpr absl::Duration kDecay = absl::Seconds(10);
  static constexpr absl::Duration kSlowStart = absl::Seconds(10);

  // An attempt's answer began after `latency`.
  void RecordAnswer(absl::Duration latency, Instant now);

  // An attempt was given up after `waited` without an answer: its latency would have been longer.
  // (An attempt that failed is not recorded: a quick failure must not make its endpoint look fast.)
  void RecordGivenUp(absl::Duration waited, Instant now);

  // Returns the cost of one more call here, in nanoseconds: the estimate times the number of calls
  // there would then be.
  double Cost(int active, Instant now) const;

  // False until the first answer, and again after Restart.
  bool known() const { return estimate_ > 0; }

  // The endpoint comes back, or is new among others that serve. Its latency is unknown, and for
  // kSlowStart it gets only a share of its calls.
  void Restart(Instant now);

  // Returns that share. It grows from a tenth to 1, and is 1 outside of a slow start.
  double Share(Instant now) const;

 private:
  double Estimate(Instant now) const;

  double estimate_ = 0;  // nanoseconds, at updated_; 0: unknown
  Instant updated_;
  Instant slow_until_;
};

}  // namespace levee
