// SPDX-License-Identifier: Apache-2.0
// Compares the limits of a configuration with what its machine or container has.
#pragma once

#include <cstdint>
#include <string>

#include "base/memory_account.h"
#include "config/fault.h"
#include "config/positions.h"
#include "settings/snapshot.h"

namespace levee {

// 0: not known, so nothing is said about it.
struct Room {
  int64_t memory = 0;       // bytes that the container may have
  int64_t descriptors = 0;  // that callers' connections may take
};

// The memory that a configuration may come to hold beside calls that are under way, by its limits;
// docs/limits.md has the formula. All in bytes.
struct MemoryPlan {
  static constexpr int64_t kOwn = 8 << 20;           // of the sidecar itself
  static constexpr int64_t kOfConnection = 4 << 10;  // of a caller's connection without calls
  static constexpr int64_t kOfTls = 16 << 10;        // of the same, more, where it has TLS
  static constexpr int64_t kOfHandshake = 48 << 10;  // of a TLS handshake with a caller
  static constexpr int64_t kHeaderBlocks = 8 << 20;  // that have begun
  static constexpr int64_t kRoutes = 8 << 20;        // table of calls by authority and method

  int64_t limit = 0;        // limits.memory, or three quarters of the container's
  int64_t connections = 0;  // limits.connections of them, all idle, with TLS if a listener has it
  int64_t handshakes = 0;   // limits.handshakes of them, if a listener has TLS
  int64_t replay = 0;       // limits.replay_bytes
  int64_t answers = 0;      // what tables of keys may take: guard.dedupe.max_bytes, or their room

  // From where on windows shrink and calls end.
  int64_t tight() const { return Share(MemoryAccount::kTight); }
  int64_t full() const { return Share(MemoryAccount::kFull); }

  // All that is held at once.
  int64_t sum() const {
    return kOwn + connections + handshakes + replay + answers + kHeaderBlocks + kRoutes;
  }

  int64_t Share(double share) const {
    return static_cast<int64_t>(share * static_cast<double>(limit));
  }
};

MemoryPlan PlanMemory(const Snapshot& snapshot, int64_t memory);

// Returns the plan for people, some lines.
std::string FormatPlan(const MemoryPlan& plan, int64_t memory);

// Returns the default of limits.connections. It gives way without a word where there are fewer
// descriptors, also where a file spells it out.
int64_t DefaultConnections();

// Reports limits that were given and that the room is too small for. The defaults give way without
// a word.
void FindRoomWarnings(const Snapshot& snapshot, const Positions& positions, const Room& room,
                      FaultList& warnings);

}  // namespace levee
