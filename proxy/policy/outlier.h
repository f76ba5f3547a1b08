// When an endpoint that fails again and again is left alone for a while.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// One endpoint's failures and ejections, after Envoy's outlier detection ("consecutive errors").
// A value without clock; one thread; `now` never goes backward.
class Outlier {
 public:
  static constexpr int kFailures = 5;  // in a row
  static constexpr absl::Duration kBase = absl::Seconds(30);
  static constexpr absl::Duration kLongest = absl::Seconds(300);

  // An attempt ended. Failures at one instant count as one: they are mostly the calls that a broken
  // connection took with it.
  void Record(bool success, Instant now);

  // It has failed often enough.
  bool due() const { return failures_ >= kFailures; }

  // Leaves it alone for kBase, twice as long at each ejection after another, up to kLongest; each
  // kBase without ejection takes one doubling back.
  void Eject(Instant now);

  // It is given calls again; what ended meanwhile is forgotten.
  void Return(Instant now);

  bool ejected() const { return ejected_; }
  Instant until() const { return until_; }  // of the ejection that lasts

 private:
  int failures_ = 0;  // in a row
  Instant last_failure_ = Instant::FromNanos(-1);
  int doublings_ = 0;
  bool ejected_ = false;
  Instant until_;
  Instant returned_;
};

}  // namespace levee
