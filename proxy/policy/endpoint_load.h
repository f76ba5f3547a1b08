// How loaded one endpoint is, as far as its callers can tell.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// The peak EWMA of Finagle ("Beyond Round Robin", Twitter 2016) and linkerd2-proxy: a latency that
// is above the estimate replaces it at once, one below it only in the course of kDecay, and with
// nothing to measure it decays to nothing, so that an endpoint that was slow is tried again. A
// value without clock; one thread; `now` never goes backward.
class EndpointLoad {
 public:
  static constexpr absl::Duration kDecay = absl::Seconds(10);
  static constexpr absl::Duration kSlowStart = absl::Seconds(10);

  // An attempt's answer began after `latency`.
  void RecordAnswer(absl::Duration latency, Instant now);

  // An attempt was given up without an answer: its latency would have been more than `waited`.
  // (One that failed says nothing: a quick failure must not make its endpoint look fast.)
  void RecordGivenUp(absl::Duration waited, Instant now);

  // Nanoseconds that one more call costs here: the estimate times the calls it would then have.
  double Cost(int active, Instant now) const;

  // False until the first answer, and again after Restart.
  bool known() const { return estimate_ > 0; }

  // The endpoint comes back, or is new among others that serve: nothing is known of it, and for
  // kSlowStart it gets only a share of the calls that would be its own.
  void Restart(Instant now);

  // That share: growing from a tenth to 1, where it is most of the time.
  double Share(Instant now) const;

 private:
  double Estimate(Instant now) const;

  double estimate_ = 0;  // nanoseconds, at updated_; 0: unknown
  Instant updated_;
  Instant slow_until_;
};

}  // namespace levee
