// SPDX-License-Identifier: Apache-2.0
// The shadow policy of a route.
#pragma once

#include <string>

#include "levee/config/v1/config.pb.h"

namespace levee {

// Returns the name of the policy that decides beside the route's own; empty: there is none.
inline std::string ShadowOf(const config::v1::Route& route) {
  return route.shadow() == "none" ? "" : route.shadow();
}

}  // namespace levee
