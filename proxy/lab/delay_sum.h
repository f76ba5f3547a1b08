// SPDX-License-Identifier: Apache-2.0
// The sum of several delays that do not depend on one another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "lab/delay_distribution.h"

namespace levee {

// Keeps how likely each sum is on a lattice of some thousand points between the least and the
// greatest sum. The lattice grows coarser as the sums grow. A delay between two points is given to
// both of them so that means stay exact. Sums of multiples of a millisecond are exact as long as
// they have points enough, and so are sums of which at most one delay varies.
class DelaySum {
 public:
  void Add(const DelayDistribution& delay);

  // Returns the sum that a share `p` does not exceed.
  absl::Duration Quantile(double p) const;

  // Returns the share of sums that are at least `bound`.
  double ShareFrom(absl::Duration bound) const;

 private:
  // Makes room for sums that reach `range` above the least.
  void Widen(absl::Duration range, absl::Duration tick);
  void Coarsen(int64_t factor);
  std::vector<double> OnLattice(const DelayDistribution& delay) const;

  absl::Duration least_;                     // of the delays so far
  absl::Duration range_;                     // from least_ to the greatest sum
  absl::Duration pitch_;                     // of the lattice; zero: no delay varies
  bool exact_ = true;                        // all sums lie on points
  std::vector<double> shares_ = {1};         // of the points, from least_ on
  std::optional<DelayDistribution> varies_;  // the only delay so far that does
  int varying_ = 0;                          // delays so far that do
};

}  // namespace levee
