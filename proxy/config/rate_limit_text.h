// SPDX-License-Identifier: Apache-2.0
// Parses and formats rates and keys of rate limits.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "policy/rate_limit_policy.h"

namespace levee {

// As in values.h, errors are half sentences that follow a field's path and a colon.

// A number of calls per time.
struct Rate {
  double count = 0;
  double seconds = 1;  // 1, 60 or 3600
  double per_second() const { return count / seconds; }
};

// Parses "100/s", "100/m" or "100/h". There are no bounds: zero and negative rates are read as
// well.
absl::StatusOr<Rate> ParseRate(const std::string& text);

// Writes the number of a rate, without an exponent, which ParseRate does not take. `digits`: at most
// so many that say something.
std::string FormatCount(double count, int digits);

// Writes the rate in the shortest time in which it is a whole number: "60/m" is "1/s".
std::string FormatRate(const Rate& rate);

// Parses "method", "authority", "peer" or "header:NAME", or "ENTRY=" and one of these or
// "text:TEXT".
absl::StatusOr<RateLimitKey> ParseRateLimitKey(const std::string& text);

}  // namespace levee
