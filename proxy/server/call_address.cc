// SPDX-License-Identifier: Apache-2.0
#include "server/call_address.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "net/address.h"

namespace levee {

std::string SpelledOnce(std::string_view authority) {
  const std::optional<HostPort> parts = SplitHostPort(authority);
  if (!parts.has_value()) return absl::AsciiStrToLower(Abseil(authority));
  if (const auto ip = net::Address::FromIp(parts->host, parts->port)) {
    return ip->Unmapped().ToString();
  }
  return absl::StrCat(absl::AsciiStrToLower(Abseil(parts->host)), ":", parts->port);
}

std::string WithoutFinalDot(std::string_view authority) {
  std::string text(authority);
  const size_t colon = text.rfind(':');
  const size_t end = colon == std::string::npos ? text.size() : colon;
  if (end > 1 && text[end - 1] == '.') text.erase(end - 1, 1);
  return text;
}

absl::Status NoRoute(std::string_view authority, std::string_view path) {
  return absl::UnimplementedError(absl::StrCat("no route for authority \"", Abseil(authority),
                                               "\", method \"", Abseil(path), "\""));
}

absl::Status Denied(std::string_view path) {
  return absl::PermissionDeniedError(
      absl::StrCat("this caller may not call \"", Abseil(path), "\" here"));
}

}  // namespace levee
