// SPDX-License-Identifier: Apache-2.0
// Where Levee listens, and what the connections there may carry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "policy/route_table.h"
#include "tls/context.h"

namespace levee {

// An address to listen on: host and port, or the path of a Unix socket.
struct ListenAddress {
  std::string host;   // an IP address without brackets; empty when `path` is the address
  uint16_t port = 0;  // 0 lets the system choose a port
  std::string path;   // of the socket, absolute; empty when `host` and `port` are the address
  bool ipv6_loopback = false;  // the port of [::1] as well, where the system has that address

  // The place in the configuration, for messages about an address that is in use:
  // "levee.yaml:3:14: listeners[0].address", or "built-in default: ...".
  std::string position;
};

// The connections that a listener takes.
struct Capture {
  bool h2c = true;      // HTTP/2 without TLS
  bool connect = true;  // HTTP CONNECT, and the protocol that comes through the tunnel

  // Connections to other places, which the system redirects here: whatever they carry.
  bool original_dst = false;
};

// A listener for calls.
struct ListenerSpec {
  std::string name;
  Direction direction = Direction::kEgress;
  ListenAddress address;
  Capture capture;
  std::shared_ptr<const tls::Context> tls;  // nullptr: without TLS
  int mode = 0660;                          // the permissions of a Unix socket
  absl::Duration max_connection_age = absl::InfiniteDuration();
};

}  // namespace levee
