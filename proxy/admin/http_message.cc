// SPDX-License-Identifier: Apache-2.0
#include "admin/http_message.h"

#include <http_parser.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "wire/percent_encoding.h"

namespace levee {

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : headers) {
    if (!absl::EqualsIgnoreCase(key, Abseil(name))) continue;
    if (found.has_value()) return std::nullopt;
    found = value;
  }
  return found;
}

bool HttpRequest::HasHeader(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(), [name](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, Abseil(name));
  });
}

std::string AnswerBytes(const HttpResponse& response, std::string_view headers, bool with_body) {
  const char* reason = http_status_str(static_cast<http_status>(response.status));
  return absl::StrCat(
      "HTTP/1.1 ", response.status, " ", reason, "\r\nContent-Type: ", response.type,
      "\r\nContent-Length: ", response.body.size(), "\r\n", response.headers, Abseil(headers),
      "Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n\r\n",
      with_body ? Abseil(response.body) : absl::string_view());
}

absl::StatusOr<std::map<std::string, std::string, std::less<>>> ParseQuery(
    std::string_view query, const std::vector<std::string_view>& known) {
  std::map<std::string, std::string, std::less<>> parameters;
  for (const absl::string_view part : absl::StrSplit(Abseil(query), '&', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::string name = PercentDecode(pair.first);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::vector<absl::string_view> names;
      for (const std::string_view one : known) names.push_back(Abseil(one));
      return absl::InvalidArgumentError(
          absl::StrCat("unknown parameter \"", name, "\"; there is ", absl::StrJoin(names, ", ")));
    }
    if (!parameters.emplace(name, PercentDecode(pair.second)).second) {
      return absl::InvalidArgumentError(absl::StrCat("parameter ", name, " is given twice"));
    }
  }
  return parameters;
}

}  // namespace levee
