// SPDX-License-Identifier: Apache-2.0
// The limits of a connection whose defaults depend on who is at its other end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "policy/route_table.h"
#include "settings/limits.h"

namespace levee {

// Names the other end of a connection.
enum class Peer {
  kEgressCaller,   // the application, which this sidecar serves
  kInboundCaller,  // anybody who can reach the application's port
  kUpstream,
};

constexpr Peer CallerOf(Direction direction) {
  return direction == Direction::kEgress ? Peer::kEgressCaller : Peer::kInboundCaller;
}

// Bounds what one peer may do. Each bound is above 0, and header_block_bytes is at least
// metadata_bytes.
struct PeerLimits {
  int streams_per_connection = 0;  // of a caller
  int64_t metadata_bytes = 0;
  int metadata_fields = 0;
  int64_t header_block_bytes = 0;
};

// Returns the bounds of `peer`. A bound that the configuration gives holds for every peer; it
// cannot give a header block that is smaller than the metadata in it. The others follow from the
// peer and from those that are given. `memory`: the bytes that limits.memory stands for.
inline PeerLimits LimitsOf(Peer peer, const Limits& given, int64_t memory) {
  constexpr int64_t kKiB = 1024;
  constexpr int64_t kLeastStreams = 1024;
  constexpr int64_t kMostStreams = 100'000;
  constexpr int64_t kMemoryOfStream = 16 * kKiB;
  constexpr int64_t kLeastHeaderBlock = 64 * kKiB;
  const bool stranger = peer == Peer::kInboundCaller;
  PeerLimits limits{.streams_per_connection = given.streams_per_connection,
                    .metadata_bytes = given.metadata_bytes,
                    .metadata_fields = given.metadata_fields,
                    .header_block_bytes = given.header_block_bytes};
  if (limits.streams_per_connection == 0) {
    const int64_t room = stranger ? kLeastStreams : memory / kMemoryOfStream;
    limits.streams_per_connection = static_cast<int>(std::clamp(room, kLeastStreams, kMostStreams));
  }
  if (limits.metadata_bytes == 0) {
    limits.metadata_bytes = (stranger ? 16 : 128) * kKiB;
    if (given.header_block_bytes > 0) {
      limits.metadata_bytes = std::min(limits.metadata_bytes, given.header_block_bytes);
    }
  }
  if (limits.metadata_fields == 0) limits.metadata_fields = stranger ? 100 : 1000;
  if (limits.header_block_bytes == 0) {
    limits.header_block_bytes = std::max(kLeastHeaderBlock, 2 * limits.metadata_bytes);
  }
  return limits;
}

}  // namespace levee
