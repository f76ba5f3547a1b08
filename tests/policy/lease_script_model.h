// SPDX-License-Identifier: Apache-2.0
// What the store's script does with one bucket, as a model that needs no store.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/permit_lease.h"

namespace levee {

// GCRA with grants of several permits. Counts microseconds, as the script does.
class LeaseScriptModel {
 public:
  LeaseGrant Run(const LeaseRule& rule, const LeaseRequest& request, Instant now) {
    const double t = 1e6 / rule.per_second;
    const double span = static_cast<double>(rule.StoreBurst()) * t;
    const double at = std::floor(static_cast<double>(now.nanos()) / 1e3);
    double tat = std::max(tat_, at) - static_cast<double>(request.refund) * t;
    tat = std::clamp(tat, at, at + span);
    const auto room = static_cast<int64_t>(std::floor((at + span - tat) / t + 1e-6));
    LeaseGrant grant{.granted = std::min(request.want, room)};
    tat_ = tat + static_cast<double>(grant.granted) * t;
    if (grant.granted < request.want) {
      grant.wait = absl::Microseconds(std::ceil(std::max(0.0, tat_ + t - span - at)));
    }
    return grant;
  }

  // The store was emptied, or one took over that knows nothing.
  void Forget() { tat_ = 0; }

 private:
  double tat_ = 0;
};

}  // namespace levee
