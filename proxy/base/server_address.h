// SPDX-License-Identifier: Apache-2.0
// Where a server is, before its name is looked up.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace levee {

struct ServerAddress {
  std::string host;  // a name or an IP address, of which one of version 6 has no brackets
  uint16_t port = 0;

  // "host:port", as the configuration has it.
  std::string Text() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }

  friend auto operator<=>(const ServerAddress&, const ServerAddress&) = default;
};

}  // namespace levee
