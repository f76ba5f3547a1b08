// SPDX-License-Identifier: Apache-2.0
#include "config/rate_limit_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "config/header_names.h"
#include "config/suggest.h"
#include "config/wrong.h"

namespace levee {
namespace {

bool IsEntryName(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), allowed);
}

absl::StatusOr<RateLimitKey> ParsePart(const std::string& text) {
  for (const RateLimitKey& key :
       {RateLimitKey::Method(), RateLimitKey::Authority(), RateLimitKey::Peer()}) {
    if (text == key.name()) return key;
  }
  if (text.starts_with(RateLimitKey::kTextPrefix)) {
    return Wrong(text,
                 "is the same for all calls; say ENTRY=text:TEXT for the descriptor of a rate "
                 "limit service");
  }
  if (!text.starts_with(RateLimitKey::kHeaderPrefix)) {
    return Wrong(text, absl::StrCat("does not tell calls apart",
                                    Suggestion(text, {"method", "authority", "peer", "header:NAME"},
                                               "allowed")));
  }
  absl::StatusOr<std::string> name =
      ParseHeaderName(text.substr(RateLimitKey::kHeaderPrefix.size()));
  if (!name.ok()) return name.status();
  return RateLimitKey::Header(*name);
}

}  // namespace

absl::StatusOr<Rate> ParseRate(const std::string& text) {
  const size_t slash = text.find('/');
  const std::string count = text.substr(0, slash);
  const std::string unit = slash == std::string::npos ? "" : text.substr(slash + 1);
  Rate rate;
  rate.seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (rate.seconds == 0 || count.find_first_not_of("-.0123456789") != std::string::npos ||
      !absl::SimpleAtod(count, &rate.count) || !std::isfinite(rate.count)) {
    return Wrong(text, "is not a rate; say 100/s, 100/m or 100/h");
  }
  // Below this a double loses digits.
  if (std::abs(rate.count) < 1e-200) rate.count = 0;
  return rate;
}

std::string FormatCount(double count, int digits) {
  const std::string text = absl::StrFormat("%.*g", digits, count);
  if (!absl::StrContains(text, 'e')) return text;
  const int before = static_cast<int>(std::floor(std::log10(std::abs(count)))) + 1;
  const std::string plain = absl::StrFormat("%.*f", std::max(digits - before, 0), count);
  if (!absl::StrContains(plain, '.')) return plain;
  return plain.substr(0, plain.find_last_not_of('0') + 1);
}

std::string FormatRate(const Rate& rate) {
  constexpr int kDigits = 15;  // A double keeps each of them.
  const std::string text = FormatCount(rate.count * (3600 / rate.seconds), kDigits);
  // The time is chosen by what is written, so that the same is written of what is read again.
  double per_hour = 0;
  LEVEE_CHECK(absl::SimpleAtod(text, &per_hour));
  if (std::fmod(per_hour, 3600) == 0) return FormatCount(per_hour / 3600, kDigits) + "/s";
  if (std::fmod(per_hour, 60) == 0) return FormatCount(per_hour / 60, kDigits) + "/m";
  return text + "/h";
}

absl::StatusOr<RateLimitKey> ParseRateLimitKey(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return ParsePart(text);
  const std::string entry = text.substr(0, equals);
  const std::string rest = text.substr(equals + 1);
  if (!IsEntryName(entry)) {
    return Wrong(text,
                 "has no name for its entry before '='; a name has letters, digits, '-', '_' "
                 "and '.'");
  }
  if (rest.starts_with(RateLimitKey::kTextPrefix)) {
    const std::string value = rest.substr(RateLimitKey::kTextPrefix.size());
    if (value.empty()) return Wrong(text, "has an empty text");
    return RateLimitKey::Named(entry, RateLimitKey::Text(value));
  }
  const absl::StatusOr<RateLimitKey> part = ParsePart(rest);
  if (!part.ok()) return part.status();
  return RateLimitKey::Named(entry, *part);
}

}  // namespace levee
