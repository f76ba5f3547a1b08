// SPDX-License-Identifier: Apache-2.0
// One rate limit of the configuration, as plain values.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace levee {

// A part of the key by which a limit chooses a bucket.
struct RateLimitKey {
  enum class Part { kMethod, kAuthority, kHeader };
  Part part = Part::kMethod;
  std::string header;  // kHeader: its name, lower case

  friend bool operator==(const RateLimitKey&, const RateLimitKey&) = default;
};

struct RateLimitPolicy {
  std::string name;
  double per_second = 1;          // above zero, at most 10^9
  int burst = 1;                  // at least 1: calls that may come at once after a quiet time
  std::vector<RateLimitKey> key;  // empty: one bucket for all calls
  absl::Duration max_wait = absl::ZeroDuration();  // calls over the rate wait this long; zero: none
  int max_keys = 10'000;                           // buckets, at least 1
  bool adaptive = false;                           // lower the rate on RESOURCE_EXHAUSTED

  friend bool operator==(const RateLimitPolicy&, const RateLimitPolicy&) = default;
};

}  // namespace levee
