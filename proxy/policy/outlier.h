// SPDX-License-Identifier: Apache-2.0
// Decides when an endpoint that fails again and again gets no calls for a while.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/success_window.h"

namespace levee {

// One endpoint's failures and ejections, after Envoy's outlier detection ("consecutive errors" and
// "success rate"). A value without clock; one thread; `now` never goes backward.
class Outlier {
 public:
  static constexpr int kFailures = 5;  // in a row
  static constexpr absl::Duration kBase = absl::Seconds(30);
  static constexpr absl::Duration kLongest = absl::Seconds(300);

  // Of SuccessWindow::kSpan: the attempts that the endpoint and all others must have had, and the
  // share of the others' success rate below which the endpoint is an outlier.
  static constexpr int64_t kLeastAttempts = 20;
  static constexpr double kLeastOfOthers = 0.8;

  // An attempt ended. Failures at one instant count as one: most of them are calls that ended with
  // the same broken connection. Returns whether it counted.
  bool Record(bool success, Instant now);

  // Whether the endpoint has failed kFailures times in a row, or its success rate is below
  // kLeastOfOthers of that of the others, and further below it than chance explains (three standard
  // deviations). So endpoints that all fail alike are not ejected one after the other. `all`: the
  // attempts of all endpoints that counted, this one's included.
  bool ShouldEject(SuccessWindow& all, Instant now);

  // Ejects the endpoint for kBase, and for twice as long at each ejection that follows another, up
  // to kLongest. Each kBase without an ejection takes one doubling back.
  void Eject(Instant now);

  // The endpoint gets calls again. Attempts that ended meanwhile are forgotten.
  void Return(Instant now);

  bool ejected() const { return ejected_; }
  Instant until() const { return until_; }  // of the ejection that lasts

 private:
  int failures_ = 0;  // in a row
  SuccessWindow window_;
  Instant last_failure_ = Instant::FromNanos(-1);
  int doublings_ = 0;
  bool ejected_ = false;
  Instant until_;
  Instant returned_;
};

}  // namespace levee
