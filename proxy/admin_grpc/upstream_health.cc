// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/upstream_health.h"

#include <algorithm>
#include <utility>

namespace levee {
namespace {

struct States {
  bool usable = false;   // ready or idle
  bool unclear = false;  // connecting
  bool known = false;
};

bool Serves(const States& states, bool before) {
  if (!states.known || states.usable) return true;
  return states.unclear && before;
}

}  // namespace

const std::map<std::string, bool>& UpstreamHealth::Update(
    const Snapshot& snapshot, const std::vector<EndpointView>& endpoints) {
  std::map<std::string, States> found;
  for (const EndpointView& endpoint : endpoints) {
    States& states = found[endpoint.upstream];
    states.known = true;
    states.usable |= endpoint.state == "ready" || endpoint.state == "idle";
    states.unclear |= endpoint.state == "connecting";
  }
  std::map<std::string, bool> serving;
  for (const auto& [name, before] : serving_) serving[name] = false;
  for (const UpstreamSpec& upstream : snapshot.upstreams) {
    const auto before = serving_.find(upstream.name);
    serving[upstream.name] =
        Serves(found[upstream.name], before == serving_.end() || before->second);
  }
  serving_ = std::move(serving);
  return serving_;
}

}  // namespace levee
