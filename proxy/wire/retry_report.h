// SPDX-License-Identifier: Apache-2.0
// The header by which a caller's sidecar tells the service how often it retries:
// `levee-retries: a0=920, a1=60, a2=15, a3=0, refused=310`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace levee {

inline constexpr std::string_view kRetriesHeader = "levee-retries";

// The attempts that are told apart: the first, the second, the third, and all further ones.
inline constexpr int kAttemptClasses = 4;

// Calls or attempts by how often they had been tried before.
using AttemptCounts = std::array<int64_t, kAttemptClasses>;

// The last ten seconds of a sidecar, towards one destination.
struct RetryReport {
  AttemptCounts attempts{};
  int64_t refused = 0;  // retries that it wanted and did not make
  friend bool operator==(const RetryReport&, const RetryReport&) = default;
};

// Returns the share of retries, made and refused ones, of all that was wanted: 0 to 1; 0 if nothing
// was.
double WantedShare(const RetryReport& report);

// Reads a dictionary of a structured field (RFC 8941, section 3.2). Members are a0, a1 and so on,
// and refused; they are integers that are not negative, and count for a billion at most. Other
// members and all parameters count for nothing. Returns nullopt if the text is malformed, or too
// long for a structured field.
std::optional<RetryReport> ParseRetryReport(std::string_view text);

std::string RetryReportText(const RetryReport& report);

}  // namespace levee
