// SPDX-License-Identifier: Apache-2.0
// How much of the process's memory the tables of idempotency keys may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "settings/snapshot.h"

namespace levee {

// A table of keys: the indices of its upstream and its policy.
using DedupeTableName = std::pair<int, int>;

// Returns the tables of keys that there are: one for each upstream and policy that a route brings
// together.
inline std::set<DedupeTableName> DedupeTablesOf(const Snapshot& snapshot) {
  std::set<DedupeTableName> tables;
  for (const Route& route : snapshot.routes.routes()) {
    if (!snapshot.policies[static_cast<size_t>(route.policy)].dedupe.has_value()) continue;
    for (const int upstream : route.Upstreams()) tables.emplace(upstream, route.policy);
  }
  return tables;
}

// Returns the bytes that each of them may take, whatever its max_bytes: all of them together take
// at most a quarter of `memory`, which is limits.memory.
inline int64_t DedupeRoom(const Snapshot& snapshot, int64_t memory) {
  return memory / 4 / std::max<int64_t>(std::ssize(DedupeTablesOf(snapshot)), 1);
}

}  // namespace levee
