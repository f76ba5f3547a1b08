// SPDX-License-Identifier: Apache-2.0
// Parses the addresses to listen on and to connect to. No name is looked up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "settings/snapshot.h"

namespace levee {

// As in values.h, errors are half sentences that follow a field's path and a colon.

// Parses "127.0.0.1:9460", "[::1]:9460", "localhost:9460" (which is 127.0.0.1). `position` stays
// empty.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// Parses the same, or "unix:/run/levee/egress.sock".
absl::StatusOr<ListenAddress> ParseListenerAddress(const std::string& text);

// Returns the path of "unix:PATH": absolute, and short enough for a socket's address.
absl::StatusOr<std::string> ParseUnixPath(const std::string& text);

// Parses "10.0.0.7:50051", "[::1]:50051", "localhost:50051", "dns:cart.shop:50051",
// "unix:/run/cart.sock", "authority:" or "original:".
absl::StatusOr<EndpointSpec> ParseEndpoint(const std::string& text);

// The value of an IP address, as the eight groups of IPv6; an IPv4 address as ::ffff:a.b.c.d.
using IpValue = std::array<uint16_t, 8>;

// Reads an IP address without brackets; nullopt if it is none.
std::optional<IpValue> ReadIp(const std::string& host);

// Whether a socket that listens at `own` takes connections to `to`. [::] takes all, since the
// system gives its socket both families, and 0.0.0.0 all of IPv4.
bool TakesConnectionsTo(const IpValue& own, const IpValue& to);

// Whether it is 127.0.0.0/8 or ::1.
bool IsLoopback(const IpValue& ip);

// Whether DNS could have the name.
bool IsHostName(const std::string& host);

}  // namespace levee
