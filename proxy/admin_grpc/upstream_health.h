// Which upstreams can be called, as grpc.health.v1 says it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/snapshot.h"
#include "upstream/endpoint_view.h"

namespace levee {

// An upstream serves unless all of its endpoints fail or are ejected, in every worker. One that
// connects says nothing yet: between two attempts to reach it, it is failing. So as long as no
// endpoint is ready (or idle, which means that no call has needed it yet) and one connects, what
// was known before holds; at first that it serves. An upstream of which no endpoint is known
// serves, as a call would look for one. One thread.
class UpstreamHealth {
 public:
  // By name, for every upstream there has ever been; those that a reload took away do not serve.
  const std::map<std::string, bool>& Update(const Snapshot& snapshot,
                                            const std::vector<EndpointView>& endpoints);

 private:
  std::map<std::string, bool> serving_;
};

}  // namespace levee
