// Where to listen and where to connect, as text. Nothing is looked up.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "settings/snapshot.h"

namespace levee {

// As in values.h, errors are half sentences that a field's path and a colon precede.

// "127.0.0.1:9460", "[::1]:9460", "localhost:9460" (which is 127.0.0.1). Leaves `position` empty.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// The same, or "unix:/run/levee/egress.sock".
absl::StatusOr<ListenAddress> ParseListenerAddress(const std::string& text);

// The path of "unix:PATH": absolute, and short enough for a socket's address.
absl::StatusOr<std::string> ParseUnixPath(const std::string& text);

// "10.0.0.7:50051", "[::1]:50051", "localhost:50051", "dns:cart.shop:50051", "unix:/run/cart.sock"
// or "authority:".
absl::StatusOr<EndpointSpec> ParseEndpoint(const std::string& text);

}  // namespace levee
