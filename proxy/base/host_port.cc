// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace levee {

std::optional<HostPort> SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // An IPv6 address needs brackets to have a port.
  }
  const bool visible =
      std::all_of(host.begin(), host.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
  int port = 0;
  const bool number = absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &port);
  if (host.empty() || host.size() > kMaxHost || !visible || !number || port < 1 || port > 65535)
    return std::nullopt;
  return HostPort{host, static_cast<uint16_t>(port)};
}

}  // namespace levee
