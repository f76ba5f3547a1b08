// SPDX-License-Identifier: Apache-2.0
#include "wire/timeout.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace levee {
namespace {

constexpr size_t kMaxDigits = 8;
constexpr int64_t kMaxValue = 99'999'999;

struct Unit {
  char letter;
  int64_t nanos;
};

// Finest first.
constexpr std::array<Unit, 6> kUnits = {{
    {'n', 1},
    {'u', 1'000},
    {'m', 1'000'000},
    {'S', 1'000'000'000},
    {'M', 60'000'000'000},
    {'H', 3'600'000'000'000},
}};

}  // namespace

std::optional<absl::Duration> ParseGrpcTimeout(std::string_view value) {
  if (value.size() < 2 || value.size() > kMaxDigits + 1) return std::nullopt;
  int64_t number = 0;
  for (char c : value.substr(0, value.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  for (const Unit& unit : kUnits) {
    // 8 digits of hours exceed 64 bits of nanoseconds, so a Duration is multiplied.
    if (unit.letter == value.back()) return absl::Nanoseconds(unit.nanos) * number;
  }
  return std::nullopt;
}

GrpcTimeoutText::GrpcTimeoutText(absl::Duration span) {
  // Saturates at 292 years; only hours can hold that in 8 digits.
  const int64_t nanos = std::max<int64_t>(absl::ToInt64Nanoseconds(span), 1);
  int64_t value = std::min(absl::ToInt64Hours(span), kMaxValue);
  char letter = 'H';
  for (const Unit& unit : kUnits) {
    if (unit.letter == 'H' || nanos / unit.nanos > kMaxValue) continue;
    value = nanos / unit.nanos;
    letter = unit.letter;
    break;
  }
  char* end = std::to_chars(text_.data(), text_.data() + kMaxDigits, value).ptr;
  *end++ = letter;
  size_ = static_cast<size_t>(end - text_.data());
}

}  // namespace levee
