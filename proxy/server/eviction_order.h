// SPDX-License-Identifier: Apache-2.0
// Which destinations go first where there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/instant.h"

namespace levee {

// The facts about a destination that decide whether it goes.
struct DestinationUse {
  uint64_t sender = 0;   // who named it (ConnectionOrigin::sender); 0: the configuration
  bool reached = false;  // there has been a connection to it
  Instant last_used;
};

// Returns the places of all of them in `uses`, in the order in which they go. Each sender's own are
// ranked first: those that have been reached are worth more than those that have not, and of equal
// ones those used last. Then the ones of the lowest ranks go first, so that whoever has named most
// loses his own until nobody has more than others, and an address where nobody listens takes no
// place from one that has served.
std::vector<size_t> EvictionOrder(std::span<const DestinationUse> uses);

}  // namespace levee
