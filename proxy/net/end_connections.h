// Ends connections whose sockets a library keeps to itself.
#pragma once

#include <cstdint>

namespace levee::net {

// Shuts down the IPv4 connections that this process has accepted on `port`, so that no thread waits
// for their clients any more. Whoever owns them closes them. Any thread.
void EndConnections(uint16_t port);

}  // namespace levee::net
