// SPDX-License-Identifier: Apache-2.0
// The header by which a call says how dear it is, and whose it is: `levee-priority: 32;u="alice"`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace levee {

inline constexpr std::string_view kPriorityHeader = "levee-priority";

struct CallPriority {
  int number = 0;    // 0, the dearest, to 127
  std::string user;  // empty: none is given
};

// Reads an Item of a structured field (RFC 8941, section 3.3): an integer from 0 to 127, and of its
// parameters `u`, a string, token or integer. Returns nullopt if the text is malformed.
std::optional<CallPriority> ParsePriority(std::string_view text);

// Returns a number by which users are told apart, which is another one in each `hour`. All sidecars
// return the same one, so that the calls of a user pass or fail together at every service.
uint64_t HashOfUser(std::string_view user, int64_t hour);

}  // namespace levee
