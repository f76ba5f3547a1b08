// SPDX-License-Identifier: Apache-2.0
#include "config/schema_kinds.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "wire/status.h"

namespace levee {
namespace {

using config::v1::FieldRule;

constexpr char kDurationPattern[] = R"((([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|ms|s|m|h))+)";
constexpr char kHostPortPattern[] = R"(\S+:[0-9]{1,5})";

// Returns the pattern for a kind. An empty one stands for any text that is not empty.
std::string PatternOf(FieldRule::Kind kind) {
  switch (kind) {
    case FieldRule::NAME:
      return "[A-Za-z0-9_.-]{1,63}";
    case FieldRule::DURATION:
      return kDurationPattern;
    case FieldRule::DURATION_OR_PERCENTILE:
      return absl::StrCat(kDurationPattern, R"(|p[0-9]{1,2}(\.[0-9])?)");
    case FieldRule::SIZE:
      return "[0-9]+(B|KiB|MiB|GiB)";
    case FieldRule::RATE:
      return R"(([0-9]+(\.[0-9]*)?|\.[0-9]+)/[smh])";
    case FieldRule::LISTEN_ADDRESS:
      return kHostPortPattern;
    case FieldRule::LISTENER_ADDRESS:
      return absl::StrCat("unix:/.+|", kHostPortPattern);
    case FieldRule::ENDPOINT:
      return absl::StrCat("authority:|original:|unix:/.+|", kHostPortPattern);
    case FieldRule::AUTHORITY_GLOB:
      return R"([^/\s]+)";
    case FieldRule::METHOD_GLOB:
      return R"([/*]\S*)";
    case FieldRule::ADDED_HEADER:
      return R"([^:\s][^\s]*)";
    case FieldRule::RATE_LIMIT_KEY:
      return "([A-Za-z0-9._-]+=)?(method|authority|peer|header:.+)|[A-Za-z0-9._-]+=text:.+";
    case FieldRule::FILE_MODE:
      return "0?[0-7]{3}";
    case FieldRule::HTTP_STATUS:
      return "[1-5]([0-9][0-9]|xx)";
    case FieldRule::WHOLE:
      return "[0-9]+";
    case FieldRule::HEADER:
      return R"([^:\s][^\s]*)";
    case FieldRule::ALT_NAME:
      return R"(dns:(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|uri:\S+)";
    case FieldRule::HOST_NAME:
      return "[A-Za-z0-9_.-]{1,253}";
    case FieldRule::SOCKET:
      return "unix:/.+";
    case FieldRule::HEADER_KEY:
      return "header:.+";
    default:
      return "";
  }
}

void EmitPattern(const std::string& pattern, YAML::Emitter& out) {
  out << YAML::Key << "type" << YAML::Value << "string";
  out << YAML::Key << "pattern" << YAML::Value << absl::StrCat("^(", pattern, ")$");
}

void EmitWhole(int least, int most, YAML::Emitter& out) {
  out << YAML::BeginMap << YAML::Key << "type" << YAML::Value << "integer";
  out << YAML::Key << "minimum" << YAML::Value << least;
  out << YAML::Key << "maximum" << YAML::Value << most << YAML::EndMap;
}

int Whole(const std::string& text) {
  int number = 0;
  LEVEE_CHECK(absl::SimpleAtoi(text, &number));  // Every such field has bounds.
  return number;
}

// The schema offers names in upper case; it accepts other cases and numbers too.
void EmitStatusCode(YAML::Emitter& out) {
  std::vector<std::string> names;
  std::vector<std::string> any_case;
  for (int i = 1; i < kStatusCodes; ++i) {
    names.emplace_back(StatusCodeName(static_cast<StatusCode>(i)));
    std::string letters;
    for (const char c : names.back()) {
      letters += c == '_' ? "_"
                          : absl::StrCat("[", std::string(1, c),
                                         std::string(1, absl::ascii_tolower(c)), "]");
    }
    any_case.push_back(letters);
  }
  out << YAML::Key << "anyOf" << YAML::Value << YAML::BeginSeq;
  out << YAML::BeginMap << YAML::Key << "enum" << YAML::Value << names << YAML::EndMap;
  out << YAML::BeginMap;
  EmitPattern(absl::StrCat(absl::StrJoin(any_case, "|"), "|[1-9]|1[0-6]"), out);
  out << YAML::EndMap;
  EmitWhole(1, kStatusCodes - 1, out);
  out << YAML::EndSeq;
}

// For texts that look like numbers to YAML unless they are quoted.
void EmitPatternOrWhole(const std::string& pattern, int least, int most, YAML::Emitter& out) {
  out << YAML::Key << "anyOf" << YAML::Value << YAML::BeginSeq;
  EmitWhole(least, most, out);
  out << YAML::BeginMap;
  EmitPattern(pattern, out);
  out << YAML::EndMap << YAML::EndSeq;
}

void EmitTlsVersion(YAML::Emitter& out) {
  out << YAML::Key << "enum" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  out << YAML::DoubleQuoted << "1.2" << YAML::DoubleQuoted << "1.3" << 1.2 << 1.3 << YAML::EndSeq;
}

// Returns a pattern that also takes the words of a field.
std::string WithWords(const FieldRule& rule, const std::string& pattern) {
  return absl::StrCat(rule.none() ? "none|" : "", rule.word(), rule.word().empty() ? "" : "|",
                      pattern);
}

}  // namespace

void EmitTextKind(const FieldRule& rule, YAML::Emitter& out) {
  const std::string pattern = PatternOf(rule.kind());
  if (rule.kind() == FieldRule::STATUS_CODE) {
    EmitStatusCode(out);
  } else if (rule.kind() == FieldRule::HTTP_STATUS) {
    EmitPatternOrWhole(pattern, 100, 599, out);
  } else if (rule.kind() == FieldRule::FILE_MODE) {
    EmitPatternOrWhole(pattern, 0, 777, out);
  } else if (rule.kind() == FieldRule::TLS_VERSION) {
    EmitTlsVersion(out);
  } else if (rule.kind() == FieldRule::WHOLE) {
    EmitPatternOrWhole(WithWords(rule, pattern), Whole(rule.min()), Whole(rule.max()), out);
  } else if (pattern.empty()) {
    out << YAML::Key << "type" << YAML::Value << "string";
    out << YAML::Key << "minLength" << YAML::Value << 1;
  } else {
    EmitPattern(WithWords(rule, pattern), out);
  }
}

}  // namespace levee
