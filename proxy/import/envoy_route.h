// One route of Envoy: whom it matches, where it leads, and the rules of its policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// What a virtual host says for those of its routes that do not say it themselves.
struct EnvoyRouteDefaults {
  std::optional<RetryDraft> retry;
  std::optional<int64_t> buffer_bytes;
  Field<RateLimitDraft> rate_limit;
};

struct EnvoyRoute {
  RouteDraft route;         // without authority, upstream and policy
  bool forwards = false;    // there is an upstream; false: Envoy answers itself
  std::string cluster;      // where it forwards to; empty: each call says
  std::string policy_name;  // what to call its policy; may be empty
  PolicyRules rules;        // without the budget, which is the cluster's
};
EnvoyRoute ReadEnvoyRoute(Section route, const EnvoyRouteDefaults& defaults);

// The rules of a policy for what has no route around it.
PolicyRules RulesWithoutRoute(const EnvoyRouteDefaults& defaults);

}  // namespace levee::importer
