// How long recent attempts took to answer, as quantiles.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// A histogram with logarithmic buckets over the last one to two windows, so that old attempts
// leave. Quantiles are exact to within an eighth. One thread; about 2 KiB.
class LatencyEstimate {
 public:
  // An attempt was answered after `latency`.
  void Record(absl::Duration latency, Instant now);

  // The latency that a share `q` (above 0, below 1) of recent attempts did not exceed; nullopt
  // while too few are known to say so. Cheap enough to be asked for every attempt.
  std::optional<absl::Duration> Quantile(double q, Instant now);
};

}  // namespace levee
