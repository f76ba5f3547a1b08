// SPDX-License-Identifier: Apache-2.0
// Finds the parts of an Envoy configuration that concern policies.
#pragma once

#include <string>
#include <vector>

#include "import/draft.h"
#include "import/envoy_limit_service.h"
#include "import/source.h"

namespace levee::importer {

// A virtual host, or a part of one that stands alone: routes, a route, a retry policy, a limit.
struct VirtualHostPart {
  Section section;
  int group = 0;                // virtual hosts of one route configuration have the same
  bool any_port = false;        // ignore_port_in_host_matching
  Field<RateLimitDraft> limit;  // of the filters around it
  std::vector<EnvoyLimitService> services;  // that these ask
};

struct EnvoyParts {
  std::vector<VirtualHostPart> virtual_hosts;
  std::vector<Section> clusters;
  Notes notes;  // about parts that were not read
};

// Finds the parts at any depth: in a bootstrap, a listener, a list of clusters, a config dump. It
// is a fault if one of `roots` has none.
EnvoyParts FindEnvoyParts(Source& source, const std::vector<Item>& roots);

}  // namespace levee::importer
