// SPDX-License-Identifier: Apache-2.0
// The fields of events about callers' connections.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "net/address.h"
#include "server/accepted_connection.h"

namespace levee {

// Writes who a connection's peer is into its origin. `identity`: the name in its certificate, empty
// if it has none. If `events`, its address as they show it, too: "127.0.0.1:50301"; "unix" for a
// Unix socket without a path, which is what a caller's end mostly is.
void NamePeer(const net::Address& peer, std::string identity, bool events,
              ConnectionOrigin& origin);

// Returns the listener, the peer, and where it leads on its destination; then `more`.
std::vector<LogField> ConnectionFields(const ConnectionOrigin& origin,
                                       std::vector<LogField> more = {});

// Returns the same for a connection that has not said what it carries, with `reason` and the first
// bytes that came.
std::vector<LogField> FirstBytesFields(const AcceptedConnection& connection,
                                       std::string_view reason);

}  // namespace levee
