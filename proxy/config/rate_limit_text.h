// Rates and keys of rate limits as text.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "policy/rate_limit_policy.h"

namespace levee {

// As in values.h, errors are half sentences that a field's path and a colon precede.

// How many in a time.
struct Rate {
  double count = 0;
  double seconds = 1;  // 1, 60 or 3600
  double per_second() const { return count / seconds; }
};

// "100/s", "100/m" or "100/h". Not bounded: zero and negative rates are read as well.
absl::StatusOr<Rate> ParseRate(const std::string& text);

// In the shortest time in which it is a whole number: "60/m" is "1/s".
std::string FormatRate(const Rate& rate);

// "method", "authority" or "header:NAME".
absl::StatusOr<RateLimitKey> ParseRateLimitKey(const std::string& text);
std::string FormatRateLimitKey(const RateLimitKey& key);

}  // namespace levee
