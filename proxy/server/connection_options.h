// SPDX-License-Identifier: Apache-2.0
// The limits of the configuration as the options of one connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conn/http2_connection.h"
#include "h2/session.h"
#include "settings/peer_limits.h"

namespace levee {

// Returns the options of a connection to `peer`: no side may overload the sidecar. `memory`: the
// bytes that limits.memory stands for.
inline Http2Connection::Options ConnectionOptionsOf(Peer peer, const Limits& limits,
                                                    int64_t memory) {
  const PeerLimits of_peer = LimitsOf(peer, limits, memory);
  h2::Session::Options session;
  if (peer != Peer::kUpstream) {
    session.max_concurrent_streams = static_cast<uint32_t>(of_peer.streams_per_connection);
  }
  session.metadata_bytes = static_cast<size_t>(of_peer.metadata_bytes);
  session.metadata_fields = static_cast<size_t>(of_peer.metadata_fields);
  session.header_block_bytes = static_cast<size_t>(of_peer.header_block_bytes);
  session.resets_per_second = static_cast<uint32_t>(limits.resets_per_second);
  session.control_frames_per_second = static_cast<uint32_t>(limits.idle_frames_per_second);
  session.pending_frames = static_cast<size_t>(limits.pending_frames);
  session.output_bytes = static_cast<size_t>(limits.output_bytes);
  return {.session = session, .send_timeout = limits.send_timeout};
}

}  // namespace levee
