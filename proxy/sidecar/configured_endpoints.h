// SPDX-License-Identifier: Apache-2.0
// The endpoints that the configuration lists, as a source.
#pragma once

#include <utility>

#include "sidecar/endpoint_source.h"

namespace levee {

// One thread.
class ConfiguredEndpoints final : public EndpointSource {
 public:
  void Start(Tell tell) override { tell_ = std::move(tell); }

  // Puts the lists of another configuration in the place of those before. Tells of each upstream
  // that is new or has other endpoints. To be called after Start.
  void Set(const EndpointLists& endpoints) {
    for (const auto& [upstream, list] : endpoints) {
      const auto before = endpoints_.find(upstream);
      if (before == endpoints_.end() || *before->second != *list) tell_(upstream, list);
    }
    endpoints_ = endpoints;
  }

 private:
  Tell tell_;
  EndpointLists endpoints_;
};

}  // namespace levee
