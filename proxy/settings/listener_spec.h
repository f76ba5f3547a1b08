// Where Levee listens, and what the connections there may carry.
#pragma once

#include <cstdint>
#include <string>

namespace levee {

// Where to listen: host:port, or the path of a Unix socket. `position` names the place in the
// configuration, for messages about a busy port.
struct ListenAddress {
  std::string host;      // IP literal without brackets; empty: `path`
  uint16_t port = 0;     // 0: the system picks one
  std::string path;      // empty: `host` and `port`
  std::string position;  // "levee.yaml:3:14: listeners[0].address", or "built-in default: ..."
};

// `capture`: what connections may carry.
struct Capture {
  bool h2c = true;      // HTTP/2 without TLS
  bool connect = true;  // HTTP CONNECT
};

struct ListenerSpec {
  std::string name;
  ListenAddress address;
  Capture capture;
  int mode = 0660;  // permissions of a Unix socket
};

}  // namespace levee
