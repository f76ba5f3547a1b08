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

// Bounds what one peer may do. Each bound is above 0.
struct PeerLimits {
  int streams_per_connection = 0;  // of a caller
};

// Returns the bounds of `peer`. A bound that the configuration gives holds for every peer. The
// others follow from the peer. `memory`: the bytes that limits.memory stands for.
inline PeerLimits LimitsOf(Peer peer, const Limits& given, int64_t memory) {
  constexpr int64_t kLeastStreams = 1024;
  constexpr int64_t kMostStreams = 100'000;
  constexpr int64_t kMemoryOfStream = 16 * 1024;
  if (given.streams_per_connection > 0) return {given.streams_per_connection};
  const int64_t room = peer == Peer::kInboundCaller ? kLeastStreams : memory / kMemoryOfStream;
  return {static_cast<int>(std::clamp(room, kLeastStreams, kMostStreams))};
}

}  // namespace levee
