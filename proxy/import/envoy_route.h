// SPDX-License-Identifier: Apache-2.0
// Reads one route of Envoy: the calls it matches, its destination, the rules of its policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/envoy_limit_service.h"
#include "import/source.h"

namespace levee::importer {

// A virtual host's values for those of its routes that do not give them.
struct EnvoyRouteDefaults {
  std::optional<RetryDraft> retry;
  std::optional<int64_t> buffer_bytes;
  Field<RateLimitDraft> rate_limit;
  std::vector<EnvoyLimitService> services;  // that the filters around it ask, with addresses
  std::vector<Section> rate_limits;         // by which keys
};

struct EnvoyRoute {
  RouteDraft route;                        // without authority, method, upstream and policy
  std::vector<std::string> globs = {"*"};  // of its methods
  std::string never;                       // why no gRPC call takes it; empty: some do
  bool forwards = false;                   // there is an upstream; false: Envoy answers itself
  std::string cluster;                     // its destination; empty: each call chooses it
  std::string policy_name;                 // for the name of its policy; may be empty
  PolicyRules rules;                       // without the budget, which is the cluster's
};
EnvoyRoute ReadEnvoyRoute(Section route, const EnvoyRouteDefaults& defaults);

// Returns the rules of a policy for a part that has no route around it.
PolicyRules RulesWithoutRoute(const EnvoyRouteDefaults& defaults);

}  // namespace levee::importer
