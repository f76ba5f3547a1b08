// SPDX-License-Identifier: Apache-2.0
#include "wire/retry_report.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "wire/structured_field.h"

namespace levee {
namespace {

// The most that a report counts for each of its numbers: more than a sidecar sends in ten seconds,
// and so little that their sum stays far below what an integer holds.
constexpr int64_t kMaxCount = 1'000'000'000;

// Returns the place of a key such as a2 in the counts; nullopt for other keys.
std::optional<size_t> AttemptOf(std::string_view key) {
  if (!key.starts_with('a')) return std::nullopt;
  unsigned attempt = 0;
  const char* const end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data() + 1, end, attempt);
  if (error != std::errc() || stop != end) return std::nullopt;
  return std::min<size_t>(attempt, kAttemptClasses - 1);
}

}  // namespace

double WantedShare(const RetryReport& report) {
  int64_t all = report.refused;
  for (const int64_t count : report.attempts) all += count;
  if (all == 0) return 0;
  return static_cast<double>(all - report.attempts[0]) / static_cast<double>(all);
}

std::optional<RetryReport> ParseRetryReport(std::string_view text) {
  const std::optional<StructuredDictionary> members = ParseStructuredDictionary(text);
  if (!members.has_value() || members->empty()) return std::nullopt;
  RetryReport report;
  for (const auto& [key, item] : *members) {
    const std::optional<size_t> attempt = AttemptOf(key);
    if (!attempt.has_value() && key != "refused") continue;
    if (item.bare.type != BareItem::Type::kInteger || item.bare.integer < 0) return std::nullopt;
    int64_t& count = attempt.has_value() ? report.attempts[*attempt] : report.refused;
    count = std::min(count + item.bare.integer, kMaxCount);
  }
  return report;
}

std::string RetryReportText(const RetryReport& report) {
  std::string text;
  for (size_t i = 0; i < report.attempts.size(); ++i) {
    absl::StrAppend(&text, "a", i, "=", report.attempts[i], ", ");
  }
  absl::StrAppend(&text, "refused=", report.refused);
  return text;
}

}  // namespace levee
