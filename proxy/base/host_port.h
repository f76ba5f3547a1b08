// SPDX-License-Identifier: Apache-2.0
// Splits the text HOST:PORT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace levee {

struct HostPort {
  std::string_view host;  // of an IPv6 literal without its brackets
  uint16_t port;
};

// A name has at most 255 bytes (RFC 1035, section 2.3.4), so nothing leads to a longer authority.
inline constexpr size_t kMaxHost = 255;
inline constexpr size_t kMaxAuthority = kMaxHost + sizeof(":65535") - 1;

// Splits "host:port" or "[v6]:port". Returns nullopt if there is no host or one of more than
// kMaxHost bytes, no port from 1 to 65535, or a character that may not stand in an authority.
std::optional<HostPort> SplitHostPort(std::string_view text);

}  // namespace levee
