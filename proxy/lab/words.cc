// SPDX-License-Identifier: Apache-2.0
#include "lab/words.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace levee {

std::string DurationWords(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "none";
  if (duration == absl::ZeroDuration()) return "0s";
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 0.99995e-6) return absl::StrFormat("%.4gns", seconds * 1e9);
  if (seconds < 0.99995e-3) return absl::StrFormat("%.4gus", seconds * 1e6);
  if (seconds < 0.99995) return absl::StrFormat("%.4gms", seconds * 1e3);
  if (seconds < 60) return absl::StrFormat("%.4gs", seconds);
  return absl::FormatDuration(absl::Seconds(std::llround(seconds)));
}

std::string PercentWords(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.01) return "less than 0.01%";
  if (percent > 99.99 && percent < 100) return "more than 99.99%";
  if (percent < 1) return absl::StrFormat("%.2g%%", percent);
  return absl::StrFormat(percent < 99 ? "%.0f%%" : "%.4g%%", percent);
}

std::string NumberWords(double number) { return absl::StrFormat("%.6g", number); }

std::string TwoDigits(double number) { return absl::StrFormat("%.2f", number); }

std::string ListWords(const std::vector<std::string>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return absl::StrCat(absl::StrJoin(first, ", "), " and ", words.back());
}

}  // namespace levee
