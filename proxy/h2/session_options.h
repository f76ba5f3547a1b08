// SPDX-License-Identifier: Apache-2.0
// The options of a session: its offers to the peer, and the bounds on what the peer may do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace levee::h2 {

struct SessionOptions {
  uint32_t max_concurrent_streams = 1024;  // server role: streams that the peer may have open
  // Flow-control windows of what the peer sends. That of a stream is the one with which it begins.
  // The connection's bounds only what is on its way, since bytes are credited as they arrive.
  uint32_t stream_window_bytes = 256 * 1024;
  uint32_t connection_window_bytes = 16 * 1024 * 1024;
  // The largest size of the fields of a received header block, counted as RFC 9113, section 6.5.2
  // does, and their largest number.
  size_t metadata_bytes = 16 * 1024;
  size_t metadata_fields = 100;

  // The following members bound the useless work that a peer can make this side do. If the peer
  // goes beyond a bound, the connection is closed. The rates hold as RateGuard says.
  //
  // The size of a header block as it is on the wire, CONTINUATION frames and their heads included.
  // The fields that it stands for and that are not kept, since the block is malformed, too large or
  // belongs to no stream, may have sixteen times as many bytes.
  size_t header_block_bytes = 64 * 1024;
  // Server role: streams a second that end by a reset before a response head was sent, whether the
  // peer sent the reset or provoked it. A reset of a stream whose HEADERS never came counts, too.
  // Twice as many may come at once. At least 1.
  uint32_t resets_per_second = 5000;
  // Control frames a second: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, GOAWAY, RST_STREAM of streams
  // that are closed, frames of unknown types, and empty DATA. Ten times as many may come at once. A
  // frame with a head or a body, in either direction, makes up for eight of them. At least 1.
  uint32_t control_frames_per_second = 1000;
  // The number of acknowledgements and resets that wait because the peer does not read.
  size_t pending_frames = 1000;
  // Server role: the bytes of bodies that wait because the peer does not read.
  size_t output_bytes = size_t{256} * 1024 * 1024;

  bool operator==(const SessionOptions&) const = default;
};

}  // namespace levee::h2
