// SPDX-License-Identifier: Apache-2.0
// Why a call takes the route that it takes.
#pragma once

#include <string>
#include <vector>

#include "policy/route_table.h"
#include "settings/snapshot.h"

namespace levee {

// One route that was looked at.
struct RouteStep {
  int route = 0;        // its index
  std::string serves;   // the calls it is for: `authority "cart.shop:*"`
  std::string because;  // the reason for which it is not the call's; empty: it is
};

// Returns the routes in their order, up to the first that matches; the last one is that, if any is.
std::vector<RouteStep> TraceRoutes(const Snapshot& snapshot, const RouteRequest& call);

}  // namespace levee
