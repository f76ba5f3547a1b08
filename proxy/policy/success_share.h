// SPDX-License-Identifier: Apache-2.0
// Which share of an endpoint's attempts succeeds.
#pragma once

#include "base/instant.h"

namespace levee {

// Attempts count less the older they are: those of the last two seconds where there are many, the
// last five where there are few. A value without clock; one thread; `now` never goes backward.
class SuccessShare {
 public:
  // An attempt ended. Failures at one instant count as one.
  void Record(bool success, Instant now);

  // The share, at best and at least, as if one more attempt had succeeded, or failed.
  double AtBest() const { return (good_ + 1) / (all_ + 1); }
  double AtLeast() const { return good_ / (all_ + 1); }

  // The share to expect of the next attempt, above 0. Without further attempts failures are
  // forgiven in the course of some seconds.
  double Expected(Instant now) const { return failing() ? ExpectedAfterFailure(now) : AtBest(); }

  // How many attempts are known.
  double attempts() const { return all_; }

  // How many failed in a row, and since when; Infinite: the last one succeeded.
  int failures() const { return failures_; }
  bool failing() const { return failures_ > 0; }
  Instant failing_since() const { return failing_since_; }

 private:
  double ExpectedAfterFailure(Instant now) const;

  double good_ = 0, all_ = 0;
  int failures_ = 0;
  Instant failing_since_ = Instant::Infinite();
  Instant ended_;  // the last attempt
};

}  // namespace levee
