// SPDX-License-Identifier: Apache-2.0
// Where the spans of calls go, and which calls have some.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace levee {

struct OtlpSpec {
  std::string host;  // of the receiver: a name or an IP address
  uint16_t port = 0;
  bool tls = false;  // trusting the CAs of the operating system

  // The share of the calls that come without a trace, were OK and took one attempt, 0 to 1.
  double sample = 0;

  // These go with every export. They may be secrets, so nothing shows them.
  std::vector<std::pair<std::string, std::string>> headers;

  friend bool operator==(const OtlpSpec&, const OtlpSpec&) = default;
};

}  // namespace levee
