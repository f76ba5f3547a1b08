// SPDX-License-Identifier: Apache-2.0
#include "wire/retry_advice.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/text.h"
#include "wire/status_details.h"

namespace levee {
namespace {

constexpr std::string_view kRetryAfterField = "retry-after";
constexpr std::string_view kDateField = "date";

// No caller waits a year for an answer.
constexpr absl::Duration kLongestSane = absl::Hours(24 * 365);

// IMF-fixdate, the form of RFC 850, and that of asctime (RFC 9110, section 5.6.7): recipients must
// take all three.
constexpr std::array<const char*, 3> kDateForms = {
    "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};

std::optional<absl::Time> ParseHttpDate(std::string_view value) {
  for (const char* form : kDateForms) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(form, Abseil(value), &time, &error)) continue;
    // Abseil reads "infinite-future" and the like whatever the form.
    if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return std::nullopt;
    return time;
  }
  return std::nullopt;
}

// Parses text of digits alone; nullopt for other text.
std::optional<absl::Duration> ParseSeconds(std::string_view value) {
  if (value.empty() || !std::all_of(value.begin(), value.end(), absl::ascii_isdigit)) {
    return std::nullopt;
  }
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(Abseil(value), &seconds)) return absl::InfiniteDuration();
  return absl::Seconds(seconds);
}

// Returns the time that the dates in `fields` are relative to.
absl::Time Sent(const Metadata& fields, absl::Time wall_now) {
  // The server's own clock is used if the server tells it: then the wait is right even where the
  // two clocks differ.
  return ParseHttpDate(fields.Get(kDateField)).value_or(wall_now);
}

absl::Duration ParseRetryAfter(std::string_view value, const Metadata& fields,
                               absl::Time wall_now) {
  if (const auto seconds = ParseSeconds(value)) return *seconds;
  if (const auto date = ParseHttpDate(value)) return *date - Sent(fields, wall_now);
  return absl::ZeroDuration();
}

}  // namespace

absl::Duration ParseRetryAdvice(const Metadata& fields, absl::Time wall_now) {
  absl::Duration longest = FindRetryDelayInDetails(fields);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != kRetryAfterField) continue;
    longest = std::max(longest, ParseRetryAfter(fields[i].value, fields, wall_now));
  }
  return longest > kLongestSane ? absl::InfiniteDuration() : longest;
}

}  // namespace levee
