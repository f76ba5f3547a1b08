// What text values of a configuration mean. Pure; errors are half sentences that a field's path and
// a colon precede: `"250" has no unit; say 250ms or 250s`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/check_code.h"
#include "levee/config/v1/annotations.pb.h"
#include "wire/status.h"

namespace levee {

// "250ms", "1m30s", "-5s"; at most a year, so that sums stay far from overflow.
absl::StatusOr<absl::Duration> ParseDuration(const std::string& text);

// "64KiB" in bytes; B, KiB, MiB and GiB.
absl::StatusOr<int64_t> ParseSize(const std::string& text);

// "0660": permissions in octal.
absl::StatusOr<int> ParseFileMode(const std::string& text);

// A gRPC code other than OK, by name in any case or by number.
absl::StatusOr<StatusCode> ParseFailureCode(const std::string& text);

// "p95" is 0.95; from p1 to p99.9, in steps of 0.1.
absl::StatusOr<double> ParsePercentile(const std::string& text);

// One value as its field keeps it.
struct ParsedText {
  std::string canonical;  // the one spelling: 14 is UNAVAILABLE, 1000ms is 1s
  // In seconds, bytes, or per second, for bounds; 0 if no bound of the field concerns it.
  double number = 0;
};

// Parses `text` as what a field of this kind holds.
absl::StatusOr<ParsedText> ParseText(config::v1::FieldRule::Kind kind, const std::string& text);

// What kind of fault it is that ParseText of this kind has returned `error`.
CheckCode CodeOf(config::v1::FieldRule::Kind kind, const absl::Status& error);

}  // namespace levee
