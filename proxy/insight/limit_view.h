// SPDX-License-Identifier: Apache-2.0
// A rate limit that sidecars share, as it is in this one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/series.h"

namespace levee {

struct LimitView {
  std::string policy;
  std::string limit;
  std::string store;       // or the address of the rate limit service
  std::string on_failure;  // "last", "allow" or "deny"
  LeaseState state = LeaseState::kLeased;
  // Permits per second that this sidecar gets, or, while the store is away, that it allows itself;
  // nullopt: nobody counts.
  std::optional<double> per_second;
  std::optional<int64_t> permits_left;  // nullopt: nobody counts
  int keys = 0;                         // with a bucket of their own
};

}  // namespace levee
