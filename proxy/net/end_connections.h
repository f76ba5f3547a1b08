// SPDX-License-Identifier: Apache-2.0
// Ends connections whose sockets a library does not give to us.
#pragma once

#include <cstdint>

namespace levee::net {

// Shuts down the IPv4 connections that this process has accepted on `port`, so that no thread waits
// for their clients any more. The owner of each connection closes it. Any thread.
void EndConnections(uint16_t port);

}  // namespace levee::net
