// What the log says of callers' connections.
#pragma once

#include <string_view>
#include <vector>

#include "log/event.h"
#include "server/accepted_connection.h"

namespace levee {

// Listener, peer, and the destination of a tunnel; then `more`.
std::vector<LogField> ConnectionFields(const ConnectionOrigin& origin,
                                       std::vector<LogField> more = {});

// The same of a connection that has not said what it carries: `reason`, and its first bytes.
std::vector<LogField> FirstBytesFields(const AcceptedConnection& connection,
                                       std::string_view reason);

}  // namespace levee
