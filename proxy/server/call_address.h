// SPDX-License-Identifier: Apache-2.0
// By what a call is routed, and where it is dialled.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/accepted_connection.h"

namespace levee {

// Neither of the two replaces the call's own :authority, which goes on to the upstream unchanged.
// The views are into the request's head or into the origin of its connection.
struct CallAddress {
  // A route's `authority` matches it, the key `authority` of a rate limit is it, and the access log
  // shows it.
  std::string_view routed_by;

  // IP:PORT to which an upstream with `original:` connects; empty: the caller connected to Levee.
  // One with `authority:` connects to routed_by.
  std::string_view original;
};

// Returns the address of a call that came on a connection of `origin` with that :authority.
//
// A call in a CONNECT tunnel is dialled to where the tunnel leads, and is routed by that too. If
// its own :authority routed it, a caller could take the route to one service in order to reach
// another, and get new permits of a rate limit with each name that it makes up.
inline CallAddress AddressOf(const ConnectionOrigin& origin, std::string_view authority) {
  return {.routed_by = origin.destination.empty() ? authority : origin.destination,
          .original = origin.original};
}

// Returns an authority in the one spelling that stands for all that lead to the same place: the
// name in lower case, an IP address as the system writes it, an IPv4 address as itself. Calls are
// routed, limited and budgeted by it, or a caller would have a budget with each spelling.
std::string SpelledOnce(std::string_view authority);

// The answer to calls whose authority has more than kMaxAuthority bytes.
inline constexpr char kAuthorityTooLong[] =
    "the call's authority is longer than a host name and a port can be (261 bytes)";

// Returns the error of a call that no route is for.
absl::Status NoRoute(std::string_view authority, std::string_view path);

// Returns the error of a call that its route denies.
absl::Status Denied(std::string_view path);

// Returns the authority without the dot that ends an absolute name. The address that is dialled
// keeps it, since the search list of the system does not apply to such a name.
std::string WithoutFinalDot(std::string_view authority);

}  // namespace levee
