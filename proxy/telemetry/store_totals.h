// SPDX-License-Identifier: Apache-2.0
// The sums of what was asked of one store since the start.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "telemetry/histogram.h"
#include "telemetry/series.h"

namespace levee {

// The counters are read one after the other while requests go on.
struct StoreTotals {
  using Durations = std::array<uint64_t, Histogram<kDurationBounds>::kBuckets>;

  std::string store;
  ByEnum<uint64_t, StoreResult, kStoreResults> requests{};
  Durations durations{};  // of the requests that had a reply
};

}  // namespace levee
