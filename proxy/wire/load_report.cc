// SPDX-License-Identifier: Apache-2.0
#include "wire/load_report.h"

#include <bit>
#include <cstdint>

#include "absl/strings/escaping.h"

namespace levee {
namespace {

// The numbers of OrcaLoadReport's fields.
constexpr int kCallsField = 6;
constexpr int kErrorsField = 7;
constexpr int kUtilizationField = 9;

// A double of proto3: none if it is 0, else the tag and eight bytes, the lowest first.
void AppendDouble(int field, double value, std::string& to) {
  constexpr int kFixed64 = 1;
  if (value == 0) return;
  to.push_back(static_cast<char>(field << 3 | kFixed64));
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<char>(bits >> shift));
}

}  // namespace

std::string LoadReportText(const LoadReport& report) {
  std::string message;
  AppendDouble(kCallsField, report.calls, message);
  AppendDouble(kErrorsField, report.errors, message);
  AppendDouble(kUtilizationField, report.utilization, message);
  std::string text;
  absl::Base64Escape(message, &text);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

}  // namespace levee
