// SPDX-License-Identifier: Apache-2.0
// A rate limit service with one limit, as a model that needs no service.
#pragma once

#include <cstdint>
#include <map>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/service_lease.h"

namespace levee {

// Counts in windows that begin at whole multiples of their length, as envoyproxy/ratelimit does. A
// request that would exceed the window gets nothing; it counts all the same, unless `counts_all` is
// false, as with Limitador.
class WindowServiceModel {
 public:
  LeaseGrant Run(const ServiceRule&, const LeaseRequest& request, Instant now) {
    const int64_t second = (now - Instant()) / absl::Seconds(1);
    const int64_t window = second / seconds;
    LeaseGrant grant;
    const bool within = counts[window] + request.want <= limit;
    if (within || counts_all) counts[window] += request.want;
    if (within) granted[window] += request.want;
    grant.granted = within ? request.want : 0;
    if (tells) {
      grant.window.limit = limit;
      grant.window.remaining = within ? limit - counts[window] : 0;
      grant.window.resets_in = absl::Seconds(seconds - second % seconds);
    }
    return grant;
  }

  int64_t limit = 1;    // of a window
  int64_t seconds = 1;  // of its length
  bool tells = true;
  bool counts_all = true;
  std::map<int64_t, int64_t> counts;   // by window
  std::map<int64_t, int64_t> granted;  // by window
};

}  // namespace levee
