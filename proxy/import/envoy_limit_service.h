// SPDX-License-Identifier: Apache-2.0
// Reads Envoy's filter that asks a rate limit service, and the rate_limits of its routes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/envoy_cluster.h"
#include "import/source.h"

namespace levee::importer {

// The service that one HTTP filter asks.
struct EnvoyLimitService {
  std::string cluster;
  int64_t stage = 0;          // of the rate_limits that it reads
  LimitServiceDraft service;  // without the address, which is the cluster's
  Notes notes;
};

// Returns nullopt if this is another filter.
std::optional<EnvoyLimitService> ReadLimitServiceFilter(Section& http_filter);

// Gives the service the address that its cluster has. Returns why it cannot be asked, as a
// sentence;
// "" if it can.
std::string FindServiceAddress(const std::map<std::string, ClusterDraft>& clusters,
                               EnvoyLimitService& service);

// The rate_limits of one route, or of a virtual host. `cluster`: where the route leads; may be
// empty. Adds a limit for each of them that a service of its stage can be asked, and a note for
// each that has no equivalent.
void ReadRateLimits(std::vector<Section> rate_limits,
                    const std::vector<EnvoyLimitService>& services, const std::string& cluster,
                    Field<std::vector<RateLimitDraft>>& limits);

}  // namespace levee::importer
