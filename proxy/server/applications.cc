// SPDX-License-Identifier: Apache-2.0
#include "server/applications.h"

namespace levee {

Applications ApplicationsOf(const Snapshot& snapshot) {
  Applications applications;
  for (const Route& route : snapshot.routes.routes()) {
    if (route.listener.direction != Direction::kInbound || route.listener.index < 0) continue;
    for (const int number : route.Upstreams()) {
      const UpstreamSpec& upstream = snapshot.upstreams[static_cast<size_t>(number)];
      if (upstream.by != UpstreamSpec::By::kEndpoints) continue;
      const auto listener = static_cast<size_t>(route.listener.index);
      applications[snapshot.listeners[listener].name].insert(upstream.name);
    }
  }
  return applications;
}

}  // namespace levee
