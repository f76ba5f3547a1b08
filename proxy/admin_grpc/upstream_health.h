// SPDX-License-Identifier: Apache-2.0
// Tells which upstreams can be called, for grpc.health.v1.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/snapshot.h"
#include "upstream/endpoint_view.h"

namespace levee {

// An upstream serves unless all of its endpoints fail or are ejected, in every worker. A connecting
// endpoint decides nothing: between two attempts to reach it, it fails. So while no endpoint is
// ready (or idle, which means that no call has needed it yet) and one connects, the status from
// before holds; at first the upstream serves. An upstream without known endpoints serves, since a
// call would look for one. One thread.
class UpstreamHealth {
 public:
  // Returns the status by name, for every upstream that there ever was. Upstreams that a reload
  // removed do not serve.
  const std::map<std::string, bool>& Update(const Snapshot& snapshot,
                                            const std::vector<EndpointView>& endpoints);

 private:
  std::map<std::string, bool> serving_;
};

}  // namespace levee
