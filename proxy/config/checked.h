// SPDX-License-Identifier: Apache-2.0
// Parses texts that FieldChecker has passed.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "config/values.h"

namespace levee {

// Returns the result of a parser whose text was checked before.
template <typename T>
T Checked(absl::StatusOr<T> parsed) {
  LEVEE_CHECK(parsed.ok());
  return *std::move(parsed);
}

// Returns a duration; `none` is infinite.
inline absl::Duration DurationOf(const std::string& text) {
  return text == "none" ? absl::InfiniteDuration() : Checked(ParseDuration(text));
}

}  // namespace levee
