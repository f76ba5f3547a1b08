// SPDX-License-Identifier: Apache-2.0
// How the handshake of TLS ended on a connection that this side has made.
#pragma once

#include <optional>

#include "net/socket.h"
#include "tls/result.h"
#include "tls/session.h"

namespace levee::net {

// Returns nullopt without TLS, and if there was no connection to shake hands on. `connected`:
// whether this side has taken its last step. `answered`: whether the peer has sent something since.
// Until then the handshake is not good: with TLS 1.3 a server may refuse the certificate after that
// step.
inline std::optional<tls::Result> HandshakeResult(const Socket& socket, bool connected,
                                                  bool answered) {
  if (socket.tls() == nullptr) return std::nullopt;
  const tls::Result result = socket.tls()->failure().result;
  if (result != tls::Result::kSuccess || answered) return result;
  if (connected) return tls::Result::kReset;
  if (socket.shaking_hands()) return tls::Result::kTimeout;
  return std::nullopt;
}

}  // namespace levee::net
