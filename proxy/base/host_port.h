// SPDX-License-Identifier: Apache-2.0
// Splits the text HOST:PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace levee {

struct HostPort {
  std::string_view host;  // of an IPv6 literal without its brackets
  uint16_t port;
};

// Splits "host:port" or "[v6]:port". Returns nullopt if there is no host, no port from 1 to 65535,
// or a character that may not stand in an authority.
std::optional<HostPort> SplitHostPort(std::string_view text);

}  // namespace levee
