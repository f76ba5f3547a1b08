// SPDX-License-Identifier: Apache-2.0
// Parses the text values of a configuration. Pure; errors are half sentences that follow a field's
// path and a colon: `"250" has no unit; say 250ms or 250s`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/check_code.h"
#include "levee/config/v1/annotations.pb.h"
#include "wire/status.h"

namespace levee {

// Parses "250ms", "1m30s", "-5s"; at most a year, so that sums stay far from overflow.
absl::StatusOr<absl::Duration> ParseDuration(const std::string& text);

// Parses "64KiB" into bytes; B, KiB, MiB and GiB.
absl::StatusOr<int64_t> ParseSize(const std::string& text);

// Parses "0660": permissions in octal.
absl::StatusOr<int> ParseFileMode(const std::string& text);

// Parses "20".
absl::StatusOr<int> ParseWhole(const std::string& text);

// Parses a gRPC code other than OK, by its name in any case or by its number.
absl::StatusOr<StatusCode> ParseFailureCode(const std::string& text);

// Parses "p95" into 0.95; from p1 to p99.9, in steps of 0.1.
absl::StatusOr<double> ParsePercentile(const std::string& text);

// Whether a field that may be left out, or be `none`, names something.
inline bool IsGiven(const std::string& text) { return !text.empty() && text != "none"; }

// Whether `spiffe` is the address of a socket, as it has to be.
inline bool IsSocket(const std::string& spiffe) { return spiffe.starts_with("unix:///"); }

// A value of one field, after parsing.
struct ParsedText {
  std::string canonical;  // the one spelling: 14 is UNAVAILABLE, 1000ms is 1s
  // In seconds, bytes, or per second, to compare with bounds; 0 if no bound of the field applies.
  double number = 0;
};

// Parses `text` as a value of a field of this kind.
absl::StatusOr<ParsedText> ParseText(config::v1::FieldRule::Kind kind, const std::string& text);

// Returns the code of the fault for `error`, which ParseText of this kind returned.
CheckCode CodeOf(config::v1::FieldRule::Kind kind, const absl::Status& error);

}  // namespace levee
