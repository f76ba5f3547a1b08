// SPDX-License-Identifier: Apache-2.0
#include "config/header_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "config/wrong.h"
#include "policy/header_match.h"

namespace levee {
namespace {

// Headers that HTTP/2 forbids, or that describe the connection or the message.
constexpr std::array<std::string_view, 28> kHttpHeaders = {"accept",
                                                           "accept-encoding",
                                                           "authorization",
                                                           "cache-control",
                                                           "connection",
                                                           "content-encoding",
                                                           "content-length",
                                                           "content-type",
                                                           "cookie",
                                                           "date",
                                                           "expect",
                                                           "forwarded",
                                                           "host",
                                                           "http2-settings",
                                                           "keep-alive",
                                                           "origin",
                                                           "priority",
                                                           "proxy-connection",
                                                           "proxy-authorization",
                                                           "range",
                                                           "te",
                                                           "trailer",
                                                           "transfer-encoding",
                                                           "upgrade",
                                                           "user-agent",
                                                           "via",
                                                           "x-forwarded-for",
                                                           "x-forwarded-proto"};

constexpr std::string_view kHeaderPrefix = "header:";

bool IsToken(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           (c != '\0' &&
            std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string::npos);
  });
}

}  // namespace

absl::StatusOr<std::string> ParseHeaderName(const std::string& text) {
  if (text.starts_with(':')) return Wrong(text, "is a pseudo-header; name a header");
  if (text.empty() || text.size() > kMaxHeaderName || !IsToken(text)) {
    return Wrong(text, absl::StrCat("is not the name of a header; a name has 1 to ", kMaxHeaderName,
                                    " letters, digits, '-', '_' and '.'"));
  }
  return absl::AsciiStrToLower(text);
}

absl::StatusOr<std::string> ParseAddedHeader(const std::string& text) {
  absl::StatusOr<std::string> name = ParseHeaderName(text);
  if (!name.ok()) return name;
  const std::string other = "; choose another, as in idempotency-key";
  if (name->starts_with("grpc-"))
    return Wrong(text, "belongs to gRPC, as all grpc-* headers do" + other);
  if (name->starts_with("levee-"))
    return Wrong(text, "belongs to Levee, as all levee-* headers do" + other);
  if (name->ends_with("-bin"))
    return Wrong(text, "would hold binary data, as all *-bin headers do" + other);
  if (std::find(kHttpHeaders.begin(), kHttpHeaders.end(), *name) != kHttpHeaders.end()) {
    return Wrong(text, "has a meaning of its own in HTTP" + other);
  }
  return name;
}

absl::StatusOr<std::string> ParseHeaderKey(const std::string& text) {
  if (!text.starts_with(kHeaderPrefix)) return Wrong(text, "names no header; say header:x-user");
  const absl::StatusOr<std::string> name = ParseHeaderName(text.substr(kHeaderPrefix.size()));
  if (!name.ok()) return name.status();
  return absl::StrCat(Abseil(kHeaderPrefix), *name);
}

absl::StatusOr<std::string> ParseHeaderRegex(const std::string& text) {
  std::string error;
  if (text.empty()) return Wrong(text, "is empty; leave the field out instead");
  if (CompileHeaderRegex(text, error) != nullptr) return text;
  return Wrong(text, absl::StrCat("is no regular expression of RE2: ", error));
}

}  // namespace levee
