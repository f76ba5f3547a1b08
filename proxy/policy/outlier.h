// SPDX-License-Identifier: Apache-2.0
// Decides when an endpoint that fails again and again gets no calls for a while.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/success_window.h"

namespace levee {

// When an endpoint is ejected, and for how long.
struct EjectionPolicy {
  int failures = 5;  // in a row, at least 1
  // Of SuccessWindow::kSpan: the attempts that the endpoint and all others must have had, at least
  // 1, and the share of the others' success rate below which the endpoint is an outlier, 0 to 1.
  int64_t attempts = 20;
  double success = 0.8;
  // Of the first ejection, and of the longest one; above zero.
  absl::Duration base = absl::Seconds(30);
  absl::Duration max = absl::Seconds(300);
  friend bool operator==(const EjectionPolicy&, const EjectionPolicy&) = default;
};

// One endpoint's failures and ejections, after Envoy's outlier detection ("consecutive errors" and
// "success rate"). A value without clock; one thread; `now` never goes backward.
class Outlier {
 public:
  // An attempt ended. Failures at one instant count as one: most of them are calls that ended with
  // the same broken connection. Returns whether it counted.
  bool Record(bool success, Instant now);

  // Whether the endpoint has failed policy.failures times in a row, or its success rate is below
  // policy.success of that of the others, and further below it than chance explains (three standard
  // deviations). So endpoints that all fail alike are not ejected one after the other. `all`: the
  // attempts of all endpoints that counted, this one's included.
  bool ShouldEject(const EjectionPolicy& policy, SuccessWindow& all, Instant now);

  // Ejects the endpoint for policy.base, and for twice as long at each ejection that follows
  // another, up to policy.max. Each policy.base without an ejection takes one doubling back.
  void Eject(const EjectionPolicy& policy, Instant now);

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
