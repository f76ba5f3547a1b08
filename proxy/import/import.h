// SPDX-License-Identifier: Apache-2.0
// Imports policies of other tools.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "config/load.h"

namespace levee {

// How far the routes of the source are routes of the policy.
struct RouteCounts {
  int exact = 0;  // the same calls go to the same upstream, and are tried as often
  int narrowed =
      0;            // some of its calls, or of its destinations, are left out; it keeps its retries
  int guarded = 0;  // its calls are tried once, or not at all
  int refused = 0;  // each is a fault

  // Returns "routes: 3 exact, 1 narrowed, 0 guarded, 0 refused".
  std::string Format() const;
  bool AllExact() const { return narrowed == 0 && guarded == 0 && refused == 0; }
};

// Either a policy file or the faults of the input.
struct ImportedPolicy {
  std::string yaml;           // comments name parts without equivalent; empty if there are faults
  std::vector<Fault> faults;  // in the order of lines
  RouteCounts routes = {};    // of those that could be read
};

// Imports gRPC service configs (grpc/doc/service_config.md; retries: gRFC A6), in JSON or as YAML,
// of which each names other methods. Values that gRPC itself refuses are faults.
ImportedPolicy ImportGrpcServiceConfig(const std::vector<ConfigText>& texts);

// Imports an Envoy bootstrap (v3), a config dump, or any parts of one that have routes, virtual
// hosts, clusters, a retry policy or a local rate limit: routes may be in one text, and the
// clusters to which they lead in another. Field names are as in protobuf files or as in JSON.
ImportedPolicy ImportEnvoy(const std::vector<ConfigText>& texts);

// Imports routes and policies of the Kubernetes Gateway API: GRPCRoute, HTTPRoute,
// XBackendTrafficPolicy and BackendTLSPolicy, Envoy Gateway's BackendTrafficPolicy and kgateway's
// TrafficPolicy. Each text has one document or several, lists
// included.
ImportedPolicy ImportGatewayApi(const std::vector<ConfigText>& texts);

// Imports Linkerd's annotations of Service, HTTPRoute and GRPCRoute, and ServiceProfiles. Each text
// has one document or several, lists included.
ImportedPolicy ImportLinkerd(const std::vector<ConfigText>& texts);

// Imports Istio's VirtualServices and DestinationRules. Each text has one document or several,
// lists included.
ImportedPolicy ImportIstio(const std::vector<ConfigText>& texts);

}  // namespace levee
