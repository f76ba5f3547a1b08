// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_rate_limit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/rate_limit_text.h"
#include "import/yaml_writer.h"

namespace levee::importer {
namespace {

// The bounds of a policy's burst and rate.
constexpr int64_t kLargestBurst = 1'000'000'000;
constexpr double kHighestRate = 1e9;  // per second
// A policy's rate fills the burst within a year. The digits that are not written leave room.
constexpr double kYear = 8760.0 * 3600;  // seconds
constexpr double kLowestRate = 1 / (8759.0 * 3600);

// Whether this is the HTTP filter; a network filter of a similar name limits connections.
bool IsLocalRateLimit(const std::string& filter) {
  if (absl::StrContains(filter, ".network.")) return false;
  return absl::StrContains(filter, "local_ratelimit") ||
         absl::StrContains(filter, "local_rate_limit");
}

// A filter's settings come as they are, wrapped with a switch for one route (FilterConfig), or
// without a schema (TypedStruct).
std::optional<Section> Unwrap(std::optional<Section> settings) {
  if (!settings.has_value() || settings->Has("token_bucket")) return settings;
  for (const char* key : {"config", "value"}) {
    if (settings->Has(key)) return Unwrap(settings->Map(key));
  }
  return settings;
}

// Writes a rate in the first unit that makes it a whole number: 100 per 60s is 100/m.
std::string FormatRate(double per_second) {
  constexpr int kDigits = 12;
  constexpr std::array<std::pair<const char*, double>, 3> kUnits = {
      {{"/s", 1}, {"/m", 60}, {"/h", 3600}}};
  for (const auto& [unit, seconds] : kUnits) {
    const double rate = per_second * seconds;
    if (rate >= 0.5 && std::abs(rate - std::round(rate)) < 1e-9 * rate) {
      return absl::StrCat(FormatCount(std::round(rate), kDigits), unit);
    }
  }
  const bool rare = per_second < 1e-4;
  return absl::StrCat(FormatCount(rare ? per_second * 3600 : per_second, kDigits),
                      rare ? "/h" : "/s");
}

// Returns the share that a RuntimeFractionalPercent stands for without its runtime key; nullopt if
// it is absent, which this filter takes for zero.
std::optional<double> ReadFraction(Section& settings, const char* key, Notes& notes) {
  std::optional<Section> fraction = settings.Map(key);
  if (!fraction.has_value()) return std::nullopt;
  std::optional<Section> value = fraction->Map("default_value");
  AddNote(fraction->Unread(), notes);
  if (!value.has_value()) return std::nullopt;
  const std::string denominator = value->Text("denominator").value_or("HUNDRED");
  const double of = denominator == "MILLION" ? 1e6 : denominator == "TEN_THOUSAND" ? 1e4 : 100;
  const double numerator = value->Number("numerator").value_or(0);
  AddNote(value->Unread(), notes);
  return numerator / of;
}

// Whether the limit is written. It is not if a fraction of the calls is given, which has no
// equivalent. An absent fraction is more likely an oversight than the intention.
bool IsEnforced(Section& settings, Notes& notes) {
  bool enforced = true;
  std::vector<std::string> missing;
  for (const char* key : {"filter_enabled", "filter_enforced"}) {
    const std::optional<double> fraction = ReadFraction(settings, key, notes);
    if (!fraction.has_value()) {
      missing.emplace_back(key);
    } else if (*fraction < 1) {
      notes.push_back(absl::StrCat("The local rate limit is left out: ", key, " is ",
                                   YamlNumber(*fraction * 100), "%, and Levee limits all calls."));
      enforced = false;
    }
  }
  if (enforced && !missing.empty()) {
    notes.push_back(absl::StrCat("Without ", absl::StrJoin(missing, " and "),
                                 " Envoy limits nothing; Levee does."));
  }
  return enforced;
}

}  // namespace

RateLimitDraft ReadTokenBucket(Section& bucket, const BucketKeys& keys, Notes& notes) {
  const int64_t burst = bucket.Whole(keys.most).value_or(0);
  const int64_t tokens = bucket.Whole(keys.tokens).value_or(1);
  const absl::Duration interval = bucket.Duration(keys.interval).value_or(absl::ZeroDuration());
  if (burst <= 0) bucket.Refuse(keys.most, "must be given and above 0");
  if (tokens <= 0) bucket.Refuse(keys.tokens, "must be above 0");
  if (interval <= absl::ZeroDuration()) {
    bucket.Refuse(keys.interval, "must be given and above 0s");
  }
  if (burst <= 0 || tokens <= 0 || interval <= absl::ZeroDuration()) return {};
  const double given = static_cast<double>(tokens) / absl::ToDoubleSeconds(interval);
  if (burst > kLargestBurst || given > kHighestRate) {
    notes.emplace_back("Levee takes a rate and a burst of at most 1000000000.");
  }
  const double rate = std::clamp(given, kLowestRate, kHighestRate);
  const auto in_a_year = static_cast<int64_t>(rate * kYear * (1 - 1e-9));
  if (given < kLowestRate || burst > in_a_year) {
    notes.emplace_back("Levee takes a rate that fills the burst in at most 8760h.");
  }
  AddNote(bucket.Unread(), notes);
  return {
      .rate = FormatRate(rate),
      .burst = static_cast<int>(std::clamp<int64_t>(burst, 1, std::min(in_a_year, kLargestBurst)))};
}

Field<RateLimitDraft> ReadLocalRateLimit(Section settings) {
  Field<RateLimitDraft> field;
  const std::string name = Names({}).Next(settings.Text("stat_prefix").value_or("local"));
  std::optional<Section> bucket = settings.Map("token_bucket");
  if (bucket.has_value() && IsEnforced(settings, field.notes)) {
    field.value =
        ReadTokenBucket(*bucket, {"max_tokens", "tokens_per_fill", "fill_interval"}, field.notes);
    field.value->name = name;
  }
  // The form of the refusal is the same for every limit of Levee.
  settings.Ignore({"@type", "status", "filter_enabled", "filter_enforced", "token_bucket",
                   "rate_limited_as_resource_exhausted"});
  AddNote(settings.Unread(), field.notes);
  return field;
}

std::optional<Field<RateLimitDraft>> ReadRateLimitFilter(Section& http_filter) {
  if (!http_filter.Has("typed_config")) return std::nullopt;
  if (!IsLocalRateLimit(http_filter.Text("name").value_or(""))) return std::nullopt;
  std::optional<Section> settings = Unwrap(http_filter.Map("typed_config"));
  if (!settings.has_value()) return std::nullopt;
  return ReadLocalRateLimit(*std::move(settings));
}

std::optional<Field<RateLimitDraft>> ReadOwnRateLimit(Section& section, Notes& notes) {
  std::optional<Section> filters = section.Map("typed_per_filter_config");
  if (!filters.has_value()) return std::nullopt;
  std::optional<Section> found;
  for (const std::string& filter : filters->Left()) {
    if (IsLocalRateLimit(filter)) found = Unwrap(filters->Map(filter));
  }
  AddNote(filters->Unread(), notes);
  if (!found.has_value()) return std::nullopt;
  return ReadLocalRateLimit(*std::move(found));
}

void NoteRateLimits(std::vector<Section> rate_limits, Notes& notes) {
  for (Section& limit : rate_limits) {
    std::vector<std::string> keys;
    for (Section& action : limit.Maps("actions")) {
      std::optional<Section> header = action.Map("request_headers");
      if (header.has_value()) {
        keys.push_back(absl::StrCat("header:", header->Text("header_name").value_or("")));
      }
      for (const std::string& key : action.Left()) keys.push_back(key);
    }
    notes.push_back(absl::StrCat("rate_limits: a rate limit service is asked by ",
                                 absl::StrJoin(keys, ", "),
                                 ". Nothing tells its address; write a rate_limit of the policy "
                                 "with scope: rls and a key."));
    AddNote(limit.Unread(), notes);
  }
}

void NoteGlobalLimit(Section& limits, Notes& notes) {
  if (!limits.Get("global").has_value()) return;
  notes.emplace_back(
      "rateLimit.global is left out: its service is not in the file. Write a rate_limit of the "
      "policy with scope: rls and a key.");
}

}  // namespace levee::importer
