// SPDX-License-Identifier: Apache-2.0
// Why a call takes the route that it takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings/snapshot.h"

namespace levee {

// The facts by which a call is routed. A fact that is not given is taken to match every route.
struct RouteFacts {
  ListenerRef listener;
  std::optional<std::string> authority;
  std::optional<std::string> path;
  std::optional<std::string> peer;
};

// One route that was looked at.
struct RouteStep {
  int route = 0;        // its index
  std::string serves;   // the calls it is for: `authority "cart.shop:*"`
  std::string because;  // the reason for which it is not the call's; empty: it is
};

// Returns the routes in their order, up to the first that matches; the last one is that, if any is.
std::vector<RouteStep> TraceRoutes(const Snapshot& snapshot, const RouteFacts& facts);

}  // namespace levee
