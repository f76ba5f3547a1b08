// SPDX-License-Identifier: Apache-2.0
#include "config/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "config/addresses.h"
#include "config/fault.h"
#include "config/header_names.h"
#include "config/rate_limit_text.h"
#include "config/suggest.h"
#include "config/wrong.h"
#include "tls/peer_name.h"

namespace levee {
namespace {

using config::v1::FieldRule;

bool IsNumber(const std::string& text) {
  double number;
  return absl::SimpleAtod(text, &number);
}

constexpr std::array<std::pair<const char*, int64_t>, 4> kSizeUnits = {
    {{"GiB", int64_t{1} << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

std::string FormatSize(int64_t bytes) {
  for (const auto& [unit, size] : kSizeUnits) {
    if (bytes != 0 && bytes % size == 0) return absl::StrCat(bytes / size, unit);
  }
  return absl::StrCat(bytes, "B");
}

absl::StatusOr<ParsedText> ParseName(const std::string& text) {
  const bool fits = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!fits || text.empty() || text.size() > 63) {
    return Wrong(text, "is not a name; a name has 1 to 63 letters, digits, '-', '_' and '.'");
  }
  return ParsedText{text};
}

absl::StatusOr<ParsedText> ParseHttpStatus(const std::string& text) {
  const bool three = text.size() == 3 && text[0] >= '1' && text[0] <= '5';
  const bool digits = three && absl::ascii_isdigit(static_cast<unsigned char>(text[1])) &&
                      absl::ascii_isdigit(static_cast<unsigned char>(text[2]));
  if (!digits && !(three && text.substr(1) == "xx")) {
    return Wrong(text, "is not an HTTP status; say 429, or 5xx for 500 to 599");
  }
  return ParsedText{text};
}

// Whether a header's value may hold the text (RFC 9110, section 5.5); no pseudo-header holds
// spaces.
bool IsVisibleAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
}

absl::StatusOr<ParsedText> ParseAuthorityGlob(const std::string& text) {
  if (text.empty() || !IsVisibleAscii(text) || text.find('/') != std::string::npos) {
    return Wrong(text, "can never match: an authority is HOST:PORT; say \"cart.shop:*\"");
  }
  return ParsedText{text};
}

absl::StatusOr<ParsedText> ParseMethodGlob(const std::string& text) {
  if (!IsVisibleAscii(text)) {
    return Wrong(text, "can never match: methods are visible ASCII; say \"/pkg.Service/*\"");
  }
  if (text.empty() || (text[0] != '/' && text[0] != '*')) {
    const std::string meant = text.find('/') == std::string::npos ? "/pkg.Service/*" : "/" + text;
    return Wrong(text,
                 absl::StrCat("can never match: methods begin with '/'; say \"", meant, "\""));
  }
  return ParsedText{text};
}

absl::StatusOr<ParsedText> FromDuration(const absl::StatusOr<absl::Duration>& duration) {
  if (!duration.ok()) return duration.status();
  // Abseil's zero has no unit, and ParseDuration would refuse it.
  const bool zero = *duration == absl::ZeroDuration();
  return ParsedText{zero ? "0s" : absl::FormatDuration(*duration),
                    absl::ToDoubleSeconds(*duration)};
}

absl::StatusOr<ParsedText> FromSize(const absl::StatusOr<int64_t>& bytes) {
  if (!bytes.ok()) return bytes.status();
  return ParsedText{FormatSize(*bytes), static_cast<double>(*bytes)};
}

absl::StatusOr<ParsedText> FromCode(const absl::StatusOr<StatusCode>& code) {
  if (!code.ok()) return code.status();
  return ParsedText{std::string(StatusCodeName(*code))};
}

absl::StatusOr<ParsedText> FromRate(const absl::StatusOr<Rate>& rate) {
  if (!rate.ok()) return rate.status();
  return ParsedText{FormatRate(*rate), rate->per_second()};
}

absl::StatusOr<ParsedText> FromKey(const absl::StatusOr<RateLimitKey>& key) {
  if (!key.ok()) return key.status();
  return ParsedText{key->name()};
}

absl::StatusOr<ParsedText> FromHeader(absl::StatusOr<std::string> name) {
  if (!name.ok()) return name.status();
  return ParsedText{*std::move(name)};
}

absl::StatusOr<ParsedText> ParseDurationOrPercentile(const std::string& text) {
  if (text.empty() || absl::ascii_tolower(static_cast<unsigned char>(text[0])) != 'p') {
    return FromDuration(ParseDuration(text));
  }
  const absl::StatusOr<double> quantile = ParsePercentile(text);
  if (!quantile.ok()) return quantile.status();
  return ParsedText{absl::StrFormat("p%.3g", *quantile * 100)};
}

absl::StatusOr<ParsedText> FromWhole(const absl::StatusOr<int>& number) {
  if (!number.ok()) return number.status();
  return ParsedText{absl::StrCat(*number), static_cast<double>(*number)};
}

// Other programs spell such a socket with three slashes, so it is kept so.
absl::StatusOr<ParsedText> ParseSocket(const std::string& text) {
  const size_t path = text.starts_with("unix:/") ? text.find_first_not_of('/', 5) : text.npos;
  if (path == text.npos || path == std::string("unix://").size()) {
    return Wrong(text, "is not the path of a Unix socket; say unix:///run/spire/agent.sock");
  }
  const absl::StatusOr<std::string> parsed = ParseUnixPath("unix:" + text.substr(path - 1));
  if (!parsed.ok()) return parsed.status();
  return ParsedText{"unix://" + *parsed};
}

absl::StatusOr<ParsedText> ParseTlsVersion(const std::string& text) {
  if (text == "1.2" || text == "1.3") return ParsedText{text};
  return Wrong(text, "is not a version of TLS that Levee speaks; say 1.2 or 1.3");
}

absl::StatusOr<ParsedText> ParseHostName(const std::string& text) {
  if (IsHostName(text)) return ParsedText{text};
  return Wrong(text, "is not a host name; say cart.shop");
}

absl::StatusOr<ParsedText> AsItIs(const std::string& text, const absl::Status& status) {
  if (!status.ok()) return status;
  return ParsedText{text};
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(const std::string& text) {
  absl::Duration duration;
  if (IsNumber(text) && std::any_of(text.begin(), text.end(), absl::ascii_isdigit)) {
    return Wrong(text, absl::StrCat("has no unit; say ", text, "ms or ", text, "s"));
  }
  if (!absl::ParseDuration(text, &duration) || text.find("inf") != std::string::npos) {
    return Wrong(text, "is not a duration; say 250ms, 10s or 1m30s (units: ns, us, ms, s, m, h)");
  }
  if (duration > absl::Hours(8760))
    return absl::OutOfRangeError(
        absl::StrCat(Quoted(text), " is too long; at most 8760h is allowed"));
  return duration;
}

absl::StatusOr<int64_t> ParseSize(const std::string& text) {
  if (IsNumber(text)) {
    return Wrong(text, absl::StrCat("has no unit; say ", text, "KiB or ", text, "B"));
  }
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  int64_t count;
  for (const auto& [name, size] : kSizeUnits) {
    int64_t bytes;
    if (unit == name && absl::SimpleAtoi(text.substr(0, digits), &count)) {
      if (__builtin_mul_overflow(count, size, &bytes))
        return absl::OutOfRangeError(absl::StrCat(Quoted(text), " is too large"));
      return bytes;
    }
  }
  return Wrong(text, "is not a size; say 64KiB (a whole number and B, KiB, MiB or GiB)");
}

absl::StatusOr<int> ParseFileMode(const std::string& text) {
  const bool octal = text.find_first_not_of("01234567") == std::string::npos;
  const size_t digits = text.size() - (text.starts_with('0') ? 1 : 0);
  if (!octal || digits != 3) return Wrong(text, "is not a file mode; say 0660 (octal)");
  return std::stoi(text, nullptr, 8);
}

absl::StatusOr<int> ParseWhole(const std::string& text) {
  int number;
  const bool digits = text.find_first_not_of("-0123456789") == std::string::npos;
  if (!digits || !absl::SimpleAtoi(text, &number)) return Wrong(text, "is not a whole number");
  return number;
}

absl::StatusOr<StatusCode> ParseFailureCode(const std::string& text) {
  const std::optional<StatusCode> code = ParseStatusCode(text);
  if (code == StatusCode::kOk) return Wrong(text, "is success; name a code that means failure");
  if (code.has_value()) return *code;
  if (ParseHttpStatus(text).ok()) {
    return Wrong(text, absl::StrCat("is an HTTP status, not a gRPC status code; HTTP statuses to ",
                                    "retry stand in retry: {http: [", text, "]}"));
  }
  if (IsNumber(text)) return Wrong(text, "is not a gRPC status code; they are 1 to 16");
  std::vector<std::string> names;
  for (int i = 1; i < kStatusCodes; ++i) {
    names.emplace_back(StatusCodeName(static_cast<StatusCode>(i)));
  }
  return Wrong(text,
               absl::StrCat("is not a gRPC status code", Suggestion(text, names, "they are")));
}

absl::StatusOr<double> ParsePercentile(const std::string& text) {
  constexpr const char* kWrong = "is not a percentile; say p50, p95 or p99.9 (p1 to p99.9)";
  const std::string digits = text.substr(std::min<size_t>(1, text.size()));
  const size_t point = std::min(digits.find('.'), digits.size());
  const bool one_decimal = point == digits.size() || point + 2 == digits.size();
  double percent;
  if (!text.starts_with('p') || point == 0 || !one_decimal ||
      digits.find_first_not_of(".0123456789") != std::string::npos ||
      !absl::SimpleAtod(digits, &percent) || percent < 1 || percent >= 100) {
    return Wrong(text, kWrong);
  }
  // The division of a whole number rounds once: so p99.9 is the same number as 0.999.
  return std::round(percent * 10) / 1000;
}

absl::StatusOr<ParsedText> ParseText(FieldRule::Kind kind, const std::string& text) {
  switch (kind) {
    case FieldRule::NAME:
      return ParseName(text);
    case FieldRule::DURATION:
      return FromDuration(ParseDuration(text));
    case FieldRule::SIZE:
      return FromSize(ParseSize(text));
    case FieldRule::STATUS_CODE:
      return FromCode(ParseFailureCode(text));
    case FieldRule::HTTP_STATUS:
      return ParseHttpStatus(text);
    case FieldRule::RATE:
      return FromRate(ParseRate(text));
    case FieldRule::LISTENER_ADDRESS:
      return AsItIs(text, ParseListenerAddress(text).status());
    case FieldRule::FILE_MODE:
      return AsItIs(text, ParseFileMode(text).status());
    case FieldRule::LISTEN_ADDRESS:
      return AsItIs(text, ParseListenAddress(text).status());
    case FieldRule::ENDPOINT:
      return AsItIs(text, ParseEndpoint(text).status());
    case FieldRule::AUTHORITY_GLOB:
      return ParseAuthorityGlob(text);
    case FieldRule::METHOD_GLOB:
      return ParseMethodGlob(text);
    case FieldRule::DURATION_OR_PERCENTILE:
      return ParseDurationOrPercentile(text);
    case FieldRule::ADDED_HEADER:
      return FromHeader(ParseAddedHeader(text));
    case FieldRule::RATE_LIMIT_KEY:
      return FromKey(ParseRateLimitKey(text));
    case FieldRule::WHOLE:
      return FromWhole(ParseWhole(text));
    case FieldRule::HEADER:
      return FromHeader(ParseHeaderName(text));
    case FieldRule::TLS_VERSION:
      return ParseTlsVersion(text);
    case FieldRule::ALT_NAME:
      return AsItIs(text, tls::ParseAltName(text).status());
    case FieldRule::HOST_NAME:
      return ParseHostName(text);
    case FieldRule::SOCKET:
      return ParseSocket(text);
    case FieldRule::REGEX:
      return FromHeader(ParseHeaderRegex(text));
    case FieldRule::HEADER_KEY:
      return FromHeader(ParseHeaderKey(text));
    default:
      if (text.empty()) return Wrong(text, "is empty; leave the field out instead");
      return ParsedText{text};
  }
}

CheckCode CodeOf(FieldRule::Kind kind, const absl::Status& error) {
  if (absl::IsOutOfRange(error)) return CheckCode::kOutOfRange;
  switch (kind) {
    case FieldRule::NAME:
      return CheckCode::kName;
    case FieldRule::DURATION:
    case FieldRule::DURATION_OR_PERCENTILE:
      return CheckCode::kDuration;
    case FieldRule::SIZE:
      return CheckCode::kSize;
    case FieldRule::STATUS_CODE:
      return CheckCode::kStatusCode;
    case FieldRule::HTTP_STATUS:
      return CheckCode::kHttpStatus;
    case FieldRule::RATE:
      return CheckCode::kRate;
    case FieldRule::LISTENER_ADDRESS:
    case FieldRule::LISTEN_ADDRESS:
      return CheckCode::kListenAddress;
    case FieldRule::FILE_MODE:
      return CheckCode::kFileMode;
    case FieldRule::ENDPOINT:
      return CheckCode::kEndpoint;
    case FieldRule::AUTHORITY_GLOB:
      return CheckCode::kAuthorityGlob;
    case FieldRule::METHOD_GLOB:
      return CheckCode::kMethodGlob;
    case FieldRule::ADDED_HEADER:
      return CheckCode::kAddedHeader;
    case FieldRule::RATE_LIMIT_KEY:
      return CheckCode::kRateLimitKey;
    case FieldRule::WHOLE:
      return CheckCode::kWhole;
    case FieldRule::HEADER:
    case FieldRule::HEADER_KEY:
      return CheckCode::kHeader;
    case FieldRule::TLS_VERSION:
      return CheckCode::kTlsVersion;
    case FieldRule::ALT_NAME:
      return CheckCode::kAltName;
    case FieldRule::HOST_NAME:
      return CheckCode::kHostName;
    case FieldRule::SOCKET:
      return CheckCode::kSocket;
    case FieldRule::REGEX:
      return CheckCode::kRegex;
    default:
      return CheckCode::kEmptyText;
  }
}

}  // namespace levee
